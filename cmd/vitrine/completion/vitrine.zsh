#compdef vitrine
# Completion of vitrine for zsh. Load it with: source <(vitrine completion zsh)
_vitrine() {
    local word description
    local -a candidates
    while IFS=$'\t' read -r word description; do
        candidates+=("${word//:/\\:}:$description")
    done < <("${words[1]}" complete-words zsh -- "${(@)words[2,CURRENT]}" 2>/dev/null)
    if (( ${#candidates} )); then
        _describe vitrine candidates
    else
        _files
    fi
}
if [[ "${funcstack[1]}" = _vitrine ]]; then
    _vitrine "$@"
else
    (( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
    compdef _vitrine vitrine
fi
