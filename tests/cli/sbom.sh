#!/bin/sh
# SPDX-License-Identifier: MIT
# The bill of materials is one, and names what the program is linked with.
build=$(cd "${builddir:-.}" && pwd)
. "${srcdir:-.}/tests/helpers/lib.sh"

sbom=$build/gpuhisto.cdx.json
[ -e "$sbom" ] || skip "there is no bill of materials in the build directory"
command -v jq >/dev/null || skip "no jq"

# field FILTER: prints what jq finds.
field()
{
    jq -r "$1" "$sbom"
}

check "format" [ "$(field .bomFormat,.specVersion | tr '\n' ' ')" = "CycloneDX 1.5 " ]
run --version
check "version" grep -qxF "$(field '.metadata.component | .name + " " + .version')" out
check "time" sh -c 'echo "$1" | grep -qE "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z$"' sh "$(field .metadata.timestamp)"
field '.components[]."bom-ref"' | sort >components
field '.dependencies[0].dependsOn[]' | sort >dependencies
same "dependencies are components" components dependencies
check "each has a licence" [ "$(field '.components[] | select((.licenses | length) != 1) | .name')" = "" ]
check "each has a version" [ "$(field '.components[] | select(.version | test("^[0-9]+[.][0-9.]*[0-9]$") | not) | .name')" = "" ]

# The versions are those that pkg-config knows.
while read -r component module; do
    if grep -qx "$component" components && version=$(pkg-config --modversion $module 2>/dev/null); then
        check "version of $component" [ "$(field ".components[] | select(.name == \"$component\").version")" = "$version" ]
    fi
done <<END
zstd libzstd
isa-l libisal
pcre2 libpcre2-8
END

# What the loader is to find, by names of libraries; a sanitizer's are not of the program.
if command -v readelf >/dev/null && [ "$SANITIZED" = no ]; then
    readelf -d "$GPUHISTO" | sed -n 's/.*NEEDED.*\[\(lib[a-z]*\|ld-[a-z]*\).*/\1/p' | sed '
        s/^libzstd$/zstd/; s/^libisal$/isa-l/; s/^libpcre$/pcre2/
        s/^\(libc\|libm\|libpthread\|libdl\|librt\|ld-linux\|ld-\)$/glibc/' >linked
    # Those that only some runs need have their names in the program.
    grep -aoE 'lib(zstd|isal|pcre2-8)\.so' "$GPUHISTO" |
        sed 's/^libzstd.*/zstd/; s/^libisal.*/isa-l/; s/^libpcre2.*/pcre2/' >loaded
    sort -u linked loaded >needed
    grep -vx cuda components >linked # it is in the program itself
    same "components (-) and needed libraries (+)" linked needed
else
    skip_part "needed libraries: no readelf, or a sanitizer"
fi

summary
