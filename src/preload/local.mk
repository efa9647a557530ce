# libmemtop.so: what runs inside the watched process.
