package main

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"vitrine/internal/opcli"
	"vitrine/op/all"
)

// The scripts ask the program itself for candidates at each key, so they know what
// it knows: every command, tool, argument and value of this version.
var (
	//go:embed completion/vitrine.bash
	bashScript string
	//go:embed completion/vitrine.zsh
	zshScript string
	//go:embed completion/vitrine.fish
	fishScript string
)

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help implements kong.HelpProvider.
func (c *completionCommand) Help() string {
	return `For bash, add to ~/.bashrc: source <(vitrine completion bash)

For zsh, add to ~/.zshrc: source <(vitrine completion zsh)

For fish: vitrine completion fish > ~/.config/fish/completions/vitrine.fish`
}

func (c *completionCommand) Run() error {
	_, err := fmt.Print(map[string]string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}[c.Shell])
	return err
}

// completeCommand prints candidates for the last of the words, one a line, with a
// description behind a tab. It is what the scripts call.
type completeCommand struct {
	Shell string   `arg:""`
	Words []string `arg:"" optional:"" passthrough:""`
}

func (c *completeCommand) Run(k *kong.Kong) error {
	words := c.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	cut := ""
	if c.Shell == "bash" {
		words, cut = joinEquals(words)
	}
	for _, candidate := range complete(k.Model.Node, words) {
		fmt.Printf("%s\t%s\n", strings.TrimPrefix(candidate.Word, cut), strings.Join(strings.Fields(candidate.Doc), " "))
	}
	return nil
}

// joinEquals puts together what bash takes apart, --output = js, and returns what
// stands before the word that bash completes.
func joinEquals(words []string) (joined []string, cut string) {
	for i := 0; i < len(words); i++ {
		if words[i] == "=" && len(joined) > 0 && strings.HasPrefix(joined[len(joined)-1], "--") {
			value := ""
			if i+1 < len(words) {
				i++
				value = words[i]
			}
			cut = joined[len(joined)-1] + "="
			joined[len(joined)-1] = cut + value
			continue
		}
		joined, cut = append(joined, words[i]), ""
	}
	return joined, cut
}

// complete walks down the commands that the words name.
func complete(n *kong.Node, words []string) []opcli.Candidate {
	for len(words) > 1 {
		if n.Name == "call" && !strings.HasPrefix(words[0], "-") {
			break
		}
		child := childNamed(n, words[0])
		switch {
		case child != nil:
			n = child
		case strings.HasPrefix(words[0], "-") && !strings.Contains(words[0], "="):
			if f := flagNamed(n, words[0]); f != nil && !f.IsBool() && len(words) == 2 {
				return flagValues(f, words[1])
			} else if f != nil && !f.IsBool() {
				words = words[1:]
			}
		}
		words = words[1:]
	}
	if len(words) == 0 {
		return nil
	}
	begun := words[len(words)-1]
	if n.Name == "call" && !strings.HasPrefix(words[0], "-") {
		return opcli.Complete(all.DocumentedCatalog(), words)
	}
	return nodeCandidates(n, begun)
}

// nodeCandidates completes a command, a flag, or a positional argument with values.
func nodeCandidates(n *kong.Node, begun string) (list []opcli.Candidate) {
	if name, value, inline := strings.Cut(begun, "="); inline {
		for _, v := range flagValues(flagNamed(n, name), value) {
			list = append(list, opcli.Candidate{Word: name + "=" + v.Word})
		}
		return list
	}
	if strings.HasPrefix(begun, "-") {
		for _, group := range n.AllFlags(true) {
			for _, f := range group {
				if word := "--" + f.Name; strings.HasPrefix(word, begun) {
					list = append(list, opcli.Candidate{Word: word, Doc: f.Help})
				}
			}
		}
		return list
	}
	for _, child := range n.Children {
		if !child.Hidden && strings.HasPrefix(child.Name, begun) {
			list = append(list, opcli.Candidate{Word: child.Name, Doc: child.Help})
		}
	}
	for _, p := range n.Positional {
		for _, v := range p.EnumSlice() {
			if strings.HasPrefix(v, begun) && v != "" {
				list = append(list, opcli.Candidate{Word: v})
			}
		}
	}
	return list
}

func childNamed(n *kong.Node, name string) *kong.Node {
	i := slices.IndexFunc(n.Children, func(c *kong.Node) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return n.Children[i]
}

func flagNamed(n *kong.Node, name string) *kong.Flag {
	for _, group := range n.AllFlags(true) {
		for _, f := range group {
			if "--"+f.Name == name || f.Short != 0 && "-"+string(f.Short) == name {
				return f
			}
		}
	}
	return nil
}

func flagValues(f *kong.Flag, begun string) (list []opcli.Candidate) {
	if f == nil {
		return nil
	}
	for _, v := range f.EnumSlice() {
		if strings.HasPrefix(v, begun) && v != "" {
			list = append(list, opcli.Candidate{Word: v})
		}
	}
	return list
}
