# Completion of vitrine for fish. Keep it with: vitrine completion fish > ~/.config/fish/completions/vitrine.fish
function __vitrine_candidates
    set -l words (commandline -opc) (commandline -ct)
    $words[1] complete-words fish -- $words[2..-1] 2>/dev/null
end
complete -c vitrine -n 'test -n "$(__vitrine_candidates | string collect)"' -f -a '(__vitrine_candidates)'
