# Measurements beside the peers: make bench.
