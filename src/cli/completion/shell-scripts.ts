export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** Returns the script that makes the shell complete command lines of `tutti`. It asks `tutti __complete`. */
export function completionScript(shell: Shell): string {
  return scripts[shell];
}

const scripts: Readonly<Record<Shell, string>> = {
  bash: `# Bash completion for tutti. Load it with: source <(tutti completion bash)
_tutti() {
  local line directive word=\${COMP_WORDS[COMP_CWORD]}
  local -a lines=()
  COMPREPLY=()
  while IFS= read -r line; do
    lines+=("$line")
  done < <(tutti __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  ((\${#lines[@]} > 0)) || return
  directive=\${lines[\${#lines[@]}-1]}
  unset "lines[\${#lines[@]}-1]"
  if [[ $directive == :0 ]]; then
    while IFS= read -r line; do
      COMPREPLY+=("$line")
    done < <(compgen -f -- "$word")
    return
  fi
  # Bash shows no descriptions.
  COMPREPLY=("\${lines[@]%%$'\\t'*}")
}
complete -o filenames -F _tutti tutti
`,
  zsh: `#compdef tutti
# Zsh completion for tutti. Load it with: source <(tutti completion zsh)
_tutti() {
  local line directive
  local -a lines candidates
  lines=("\${(@f)$(tutti __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  directive="\${lines[-1]}"
  lines=("\${(@)lines[1,-2]}")
  if [[ "$directive" == ":0" ]]; then
    _files
    return
  fi
  for line in "\${lines[@]}"; do
    # A colon ends the candidate; the description follows.
    line="\${line//:/\\\\:}"
    candidates+=("\${line/$'\\t'/:}")
  done
  _describe tutti candidates
}
compdef _tutti tutti
`,
  fish: `# Fish completion for tutti. Load it with: tutti completion fish | source
function __tutti_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  set -l lines (tutti __complete $words[2..-1] "$current" 2>/dev/null)
  test (count $lines) -gt 0; or return
  if test "$lines[-1]" = ":0"
    __fish_complete_path "$current"
    return
  end
  test (count $lines) -gt 1; and printf '%s\\n' $lines[1..-2]
end
complete -c tutti -f -a '(__tutti_complete)'
`,
};
