# release.mk: `make release`: all that a release is, in build/release (docs/RELEASE.md).
.PHONY: release
release: python-for-wheel $(WHEEL_STAMP) $(PYODIDE)/wheel.made build/package/package.json build/single/seqmix.html amalgamation build/docs/API.md build/docs/OPERATIONS.md ## all that a release is, in build/release: archives, wheel, npm package, page, notes, SBOM, checksums
	@node scripts/release.mjs

test-released: ## the release made twice, in two folders, is the same bytes; in a bare Debian each way of docs/INSTALL.md works (root, debootstrap; half an hour)
	@mkdir -p build/test && proofs_tests/package/released.sh | tee build/test/released.tap; grep -q '^1\.\.[1-9]' build/test/released.tap && ! grep -q '^not ok' build/test/released.tap
.PHONY: test-released
