#!/bin/sh
# Names of the functions that C headers declare, one a line, sorted:
# what a library of seqmix shows to the linker.
# usage: scripts/exports.sh HEADER...
set -eu
sed -e 's|//.*||' -e '/^#/d' "$@" | grep -oE '(^|[^A-Za-z0-9_])(smx|ref)_[a-z0-9_]+\(' | sed -E 's/^[^a-z]//; s/\($//' |
    LC_ALL=C sort -u
