# release.mk: `make release`: all that a release is, in build/release (docs/RELEASE.md).
.PHONY: release
release: python-for-wheel $(WHEEL_STAMP) $(PYODIDE)/wheel.made build/package/package.json build/single/seqmix.html amalgamation ## all that a release is, in build/release: archives, wheel, npm package, page, notes, SBOM, checksums
	@node scripts/release.mjs
