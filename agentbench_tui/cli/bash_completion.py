"""Completion script for bash: words with `:` and `=` whole, and candidates quoted."""

from __future__ import annotations

from typing import ClassVar

from click.shell_completion import BashComplete, add_completion_class

# Bash splits the words of the line at `:` and `=` too (COMP_WORDBREAKS), and replaces only the part
# after the last of them. So the parts that no space separates are joined before agentbench sees
# them, and the candidates lose what is already there. Bash inserts candidates as they are: without
# quoting, a case or tag named `$(command)` would be executed. Inside quotes that the user opened,
# only candidates that need none are offered.
_SCRIPT = r"""%(complete_func)s() {
    local IFS=$'\n'
    local response completion type value i last rest=$COMP_LINE typed=''
    local -a words=()

    for ((i = 0; i <= COMP_CWORD; i += 1)); do
        value=${COMP_WORDS[i]}
        last=$((${#words[@]} - 1))
        if [[ -n $COMP_LINE && $last -ge 0 && -n $value && $rest != [$' \t']* ]]; then
            typed=${words[last]}
            words[last]+=$value
        else
            typed=''
            words+=("$value")
        fi
        while [[ $rest == [$' \t']* ]]; do rest=${rest:1}; done
        rest=${rest#"$value"}
    done
    last=$((${#words[@]} - 1))
    [[ -n $typed && ${COMP_WORDS[COMP_CWORD]} == [:=] ]] && typed=${words[last]}

    response=$(env COMP_WORDS="${words[*]}" COMP_CWORD=$last %(complete_var)s=bash_complete "$1")

    while IFS=',' read -r type value; do
        if [[ $type == 'dir' ]]; then
            COMPREPLY=()
            compopt -o dirnames
        elif [[ $type == 'file' ]]; then
            COMPREPLY=()
            compopt -o default
        elif [[ $type == 'plain' ]]; then
            value=${value#"$typed"}
            printf -v completion '%%q' "$value"
            if [[ ${words[last]} != [\"\']* ]]; then
                COMPREPLY+=("$completion")
            elif [[ $completion == "$value" ]]; then
                COMPREPLY+=("$value")
            fi
        fi
    done <<< "$response"

    return 0
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""


class _BashComplete(BashComplete):
    """Completion for bash 4.4 and newer."""

    source_template: ClassVar[str] = _SCRIPT


def use_script() -> None:
    """Make `get_completion_class("bash")` return this script."""
    add_completion_class(_BashComplete, "bash")
