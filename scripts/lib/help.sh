# Prints the head comment of the script that sources this, if -h or --help is among its arguments:
#   source scripts/lib/help.sh "$@"
# Arguments after -- belong to another command.
for help_argument in "$@"; do
    case $help_argument in
    -h | --help)
        awk 'NR == 1 { next } /^#/ { sub(/^# ?/, ""); print; next } { exit }' \
            "$(dirname "${BASH_SOURCE[0]}")/../$(basename "$0")"
        exit 0
        ;;
    --) break ;;
    esac
done
