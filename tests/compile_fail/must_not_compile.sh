#!/bin/sh
# must_not_compile.sh SOURCE COMPILER FLAG...: passes if SOURCE compiles as it stands and no longer
# does with -DBREAK_IT. The first half is what makes the second mean something.
source=$1
shift
"$@" -fsyntax-only "$source" || {
    echo "$source does not compile as it stands" >&2
    exit 1
}
if errors=$("$@" -fsyntax-only -DBREAK_IT "$source" 2>&1); then
    echo "$source compiles with -DBREAK_IT: the misuse it shows is possible again" >&2
    exit 1
fi
echo "$errors" | grep 'error:'
