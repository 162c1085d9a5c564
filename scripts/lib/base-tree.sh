# Another commit of this repository, to compare this tree with; sourced.

# Checks out a commit in a work tree of its own, or moves the one that is there; prints its hash.
base_tree() { # base_tree COMMIT FOLDER
    local commit
    commit=$(git rev-parse --verify --quiet "$1^{commit}") || {
        echo "${0##*/}: error: '$1' is no commit of this repository" >&2
        return 2
    }
    if [ -e "$2/.git" ]; then
        git -C "$2" checkout -q --detach "$commit" || return 2
    else
        git worktree prune
        git worktree add -q --detach "$2" "$commit" || return 2
    fi
    echo "$commit"
}

# Builds targets of a tree with the release preset; prints the compiler's output if that fails.
base_build() { # base_build TREE LOG TARGET…
    local tree=$1 log=$2
    shift 2
    "$tree/scripts/build.sh" release "$@" >"$log" 2>&1 || {
        cat "$log" >&2
        echo "${0##*/}: error: $tree does not build" >&2
        return 2
    }
}
