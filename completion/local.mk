# Completion: one file for all programs; shells look for it under each program's name.
bashcompdir = $(datadir)/bash-completion/completions
dist_bashcomp_DATA = completion/memtop.bash
bashcomp_links = memtopstat memtop-munge memtop-replay
zshcompdir = $(datadir)/zsh/site-functions
dist_zshcomp_DATA = completion/_memtop

install-data-hook:
	cd $(DESTDIR)$(bashcompdir) && for name in $(bashcomp_links); do \
	  rm -f $$name.bash && $(LN_S) memtop.bash $$name.bash || exit 1; done
uninstall-local:
	cd $(DESTDIR)$(bashcompdir) && rm -f $(bashcomp_links:=.bash)
