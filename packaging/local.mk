# Files with which distributions build packages.
EXTRA_DIST += debian/changelog debian/control debian/copyright debian/rules \
	debian/source/format debian/libmemtop-dev.install \
	debian/libmemtop-preload.install \
	debian/libmemtop-preload.lintian-overrides debian/libmemtop-preload.triggers \
	debian/memtop.examples debian/memtop.install debian/not-installed \
	debian/tests/control debian/tests/smoke
EXTRA_DIST += packaging/check-install.sh packaging/memtop.spec

# Builds, installs and removes the packages in bare systems; needs root.
check-install: dist
	@$(srcdir)/packaging/check-install.sh $(distdir).tar.xz $(SUITE)
.PHONY: check-install
