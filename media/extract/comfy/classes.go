package comfy

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// Role is what the nodes of a class do to the picture, where the shape of their
// inputs does not tell.
type Role string

// The roles. A class without a role is judged by its inputs.
const (
	RoleSampler   Role = "sampler"   // samples: a pass
	RoleGenerator Role = "generator" // makes a picture from a text by itself, often at a hosted service
	RoleLatent    Role = "latent"    // makes a latent of a stated size
	RoleSave      Role = "save"      // writes the result
	RolePreview   Role = "preview"   // shows a result
	RoleAside     Role = "aside"     // writes or shows something else than the result: masks, texts, latents
	RoleBundle    Role = "bundle"    // carries models, prompts and settings together
	RoleEncoder   Role = "encoder"   // makes a conditioning of texts
	RoleText      Role = "text"      // gives a text that it holds or takes
	RoleWriter    Role = "writer"    // gives a text that a model writes; it is not in the file
	RoleShow      Role = "show"      // shows a text and keeps what it showed
	RoleList      Role = "list"      // gives a list of the texts that it holds or takes
	RolePlain     Role = "plain"     // none of these: loads, converts, edits
)

var roles = []Role{"", RoleSampler, RoleGenerator, RoleLatent, RoleSave, RolePreview, RoleAside, RoleBundle, RoleEncoder, RoleText, RoleWriter, RoleShow, RoleList, RolePlain}

// Class is what is known of a node class. Facts stand here, rules for classes that
// are not known stand in code.
type Class struct {
	// Widgets are the names of the widgets in the order in which the editor stores
	// their values. A control slot behind a seed is not listed.
	Widgets []string `json:"widgets,omitempty"`
	// Older are the widgets of earlier versions of the class, told apart by their number.
	Older [][]string `json:"older,omitempty"`
	// Outputs are the names of the outputs, in lower case.
	Outputs []string `json:"outputs,omitempty"`
	// Inputs say what an input means: the name that the reader's rules know it by
	// ("seed", "positive", "ckpt_name", …), "file:TYPE" for the name of a weight file of
	// a model type, or "-" for an option that no rule may read.
	Inputs map[string]string `json:"inputs,omitempty"`
	// Passes names the input that an output hands on, by the output's number; "" stands
	// for an output that the class computes in a way that is not followed, "*" for every
	// output that is not named.
	Passes map[string]string `json:"passes,omitempty"`
	// Bundle is the input on which a bundle comes in, for classes of that role; an
	// output gives the input of its name, and otherwise what the bundle holds. A name that
	// ends in * stands for several, of which the last replaces what the others hold.
	Bundle string `json:"bundle,omitempty"`
	Role   Role   `json:"role,omitempty"`
	// Stream names the inputs on which a stream of settings comes in, for the class
	// that samples by it; When says by which choices it does so, as not all of its nodes do.
	Stream []string          `json:"stream,omitempty"`
	When   map[string]string `json:"when,omitempty"`
	// Choices are what a choice of an input sets on the node and in a stream: by input and
	// value, "*" for any that is not named, the inputs that take another value, or none
	// where it is null.
	Choices map[string]map[string]map[string]*string `json:"choices,omitempty"`
	// Pick is the item of a list that the class returns; Lines names the input whose lines
	// are the items, for classes of the role list that make one of a text.
	Pick  *Pick  `json:"pick,omitempty"`
	Lines string `json:"lines,omitempty"`
	// Gives is what the class is by itself: the name of its sampler or of its schedule, under
	// the name of that setting.
	Gives map[string]string `json:"gives,omitempty"`
	// Replaces says that the prompts of the class take the place of those that it is handed,
	// rather than stand beside them.
	Replaces bool `json:"replaces,omitempty"`
	// Varies names the settings that a plot goes through by a node of the class: the sampler
	// that takes the plot has no single value of them.
	Varies []string `json:"varies,omitempty"`
	// Comments is what the lines of its text begin with that the class leaves out.
	Comments string `json:"comments,omitempty"`
	// Tags says that the class loads the <lora:…> tags of its texts, and takes them out of
	// the text that it gives out.
	Tags bool `json:"tags,omitempty"`
	// Size is how the class makes a size of a ratio.
	Size *SizeRule `json:"size,omitempty"`
	// Medium is what an output node writes: image, animation, video, audio, model, svg, data.
	Medium string `json:"medium,omitempty"`

	pack string // of the file that describes the class
	own  string // name of the file in nodes.d, "" for classes that ship
}

// ClassFile is a file of classes, as it ships in nodes and as people add to nodes.d.
type ClassFile struct {
	Pack  string            `json:"pack"`              // registry id of the node pack; comfy-core for ComfyUI itself
	About string            `json:"about,omitempty"`   // where the facts are from
	Nodes map[string]*Class `json:"nodes"`             // by class
	Same  map[string]string `json:"same_as,omitempty"` // classes that are as another in this file
	// Words are words of class names by the rule that judges classes by them: see words.json
	// for the rules. Some rules judge described classes too, where the table says nothing
	// about what they ask. Words are added to those that ship.
	Words map[string][]string `json:"words,omitempty"`
	// Virtual are classes of the editor that it never queues, such as notes.
	Virtual []string `json:"virtual,omitempty"`
}

//go:embed nodes/*.json
var shipped embed.FS

// classTable is all that is known of classes. It never changes once it is in use.
type classTable struct {
	byName  map[string]*Class
	byKey   map[string]*Class // by folded name
	words   map[string][]string
	virtual map[string]bool
	chosen  map[string]map[string]bool // by pack, the inputs that some choice of its classes sets
}

var classes atomic.Pointer[classTable]

func init() {
	t, err := shippedClasses()
	if err != nil {
		panic(err) // the files are part of the program, and a test reads them
	}
	classes.Store(t)
}

func shippedClasses() (*classTable, error) {
	t := &classTable{byName: map[string]*Class{}, byKey: map[string]*Class{}, words: map[string][]string{}, virtual: map[string]bool{}, chosen: map[string]map[string]bool{}}
	names, err := fs.Glob(shipped, "nodes/*.json")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		b, err := shipped.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if err := t.add(b, path.Base(name), false); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// LoadClasses adds the class files of a folder, *.json in order of their names, to
// those that ship and uses them from then on; a class that is described twice is
// as the last file has it. A folder that does not exist holds no files. A file that
// cannot be used is left out and named in the error, the others count.
func LoadClasses(dir string) error {
	t, err := shippedClasses()
	if err != nil {
		return err
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return err
	}
	slices.Sort(names)
	var failed []string
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err == nil {
			err = t.add(b, filepath.Base(name), true)
		}
		if err != nil {
			failed = append(failed, err.Error())
		}
	}
	classes.Store(t)
	if len(failed) > 0 {
		return fmt.Errorf("node classes: %s", strings.Join(failed, "; "))
	}
	return nil
}

// add merges a file into the table.
func (t *classTable) add(b []byte, name string, own bool) error {
	var f ClassFile
	if err := json.Unmarshal(b, &f); err != nil {
		return fmt.Errorf("%s is no file of node classes: %w", name, err)
	}
	for alias, of := range f.Same {
		if f.Nodes[of] == nil {
			return fmt.Errorf("%s: same_as names %q, which the file does not describe", name, of)
		}
		copied := *f.Nodes[of]
		f.Nodes[alias] = &copied
	}
	for rule, words := range f.Words {
		if own && t.words[rule] == nil {
			return fmt.Errorf("%s: words names the rule %q; the rules are %q", name, rule, slices.Sorted(maps.Keys(t.words)))
		}
		if slices.ContainsFunc(words, func(w string) bool { return w == "" || w != foldClass(w) }) {
			return fmt.Errorf("%s: the words of rule %q must be lower-case letters and digits", name, rule)
		}
	}
	for class, c := range f.Nodes {
		if err := c.check(); err != nil {
			return fmt.Errorf("%s: class %q: %w", name, class, err)
		}
	}
	for rule, words := range f.Words {
		t.words[rule] = append(t.words[rule], words...)
	}
	for _, class := range f.Virtual {
		t.virtual[class] = true
	}
	for class, c := range f.Nodes {
		c.pack = f.Pack
		if own {
			c.own = name
			c.complete(t.byName[class])
		}
		t.byName[class] = c
		t.byKey[foldClass(class)] = c
		for _, byValue := range c.Choices {
			for _, set := range byValue {
				if t.chosen[f.Pack] == nil {
					t.chosen[f.Pack] = map[string]bool{}
				}
				maps.Copy(t.chosen[f.Pack], namesOf(set))
			}
		}
	}
	return nil
}

func namesOf(set map[string]*string) map[string]bool {
	names := map[string]bool{}
	for name := range set {
		names[name] = true
	}
	return names
}

// complete takes over what a file of one's own leaves open from the class as it ships.
func (c *Class) complete(from *Class) {
	if from == nil {
		return
	}
	if c.Widgets == nil {
		c.Widgets, c.Older = from.Widgets, from.Older
	}
	if c.Inputs == nil {
		c.Inputs = from.Inputs
	}
	if c.Outputs == nil {
		c.Outputs = from.Outputs
	}
	if c.Passes == nil {
		c.Passes = from.Passes
	}
	if c.Pick == nil {
		c.Pick = from.Pick
	}
	if c.Size == nil {
		c.Size = from.Size
	}
	if c.Comments == "" {
		c.Comments = from.Comments
	}
	c.Tags, c.Replaces = c.Tags || from.Tags, c.Replaces || from.Replaces
	if c.Gives == nil {
		c.Gives = from.Gives
	}
	if c.Varies == nil {
		c.Varies = from.Varies
	}
	if c.Role == "" {
		c.Role, c.Bundle, c.Medium, c.Lines = from.Role, from.Bundle, from.Medium, from.Lines
		c.Stream, c.When, c.Choices = from.Stream, from.When, from.Choices
	}
	if c.pack == "" {
		c.pack = from.pack
	}
}

var media = []string{"", "image", "animation", "video", "audio", "model", "svg", "data"}

func (c *Class) check() error {
	switch {
	case c == nil:
		return fmt.Errorf("it is null; write {} for a class without facts")
	case !slices.Contains(roles, c.Role):
		return fmt.Errorf("role %q is not one of %q", c.Role, roles[1:])
	case !slices.Contains(media, c.Medium):
		return fmt.Errorf("medium %q is not one of %q", c.Medium, media[1:])
	case slices.Contains(c.Widgets, ""):
		return fmt.Errorf("widgets holds an empty name")
	}
	for in, meaning := range c.Inputs {
		if meaning == "" || meaning == "file:" {
			return fmt.Errorf("the meaning of input %q is empty; \"-\" stands for an option", in)
		}
	}
	if c.Pick != nil && (c.Pick.List == "" || c.Pick.Index == "") {
		return fmt.Errorf("pick must name the input of the list and that of the index")
	}
	if err := c.Size.check(); err != nil {
		return err
	}
	for out := range c.Passes {
		if n, err := strconv.Atoi(out); out != anyChoice && (err != nil || n < 0) {
			return fmt.Errorf("passes names output %q; outputs are numbered from 0, and %q is every other", out, anyChoice)
		}
	}
	return nil
}

// classOf returns what is known of a class, nil when nothing is. Classes are found
// by their exact name, then without regard to case and punctuation.
func classOf(name, key string) *Class {
	t := classes.Load()
	if c := t.byName[name]; c != nil {
		return c
	}
	return t.byKey[key]
}

// like reports whether a node's class name holds a word of a rule.
func (n *node) like(rule string) bool { return n.is(classes.Load().words[rule]...) }

// role returns the role of a node's class, "" where it is judged by its inputs.
func (n *node) role() Role {
	if n.about == nil {
		return ""
	}
	if len(n.about.When) > 0 && !n.meets() {
		return RolePlain
	}
	return n.about.Role
}

// passed returns the input that an output hands on by the table, nil for none.
func (p port) passed() *input {
	if name := p.passes(); name != nil && *name != "" {
		return p.node.in(*name)
	}
	return nil
}

// computed reports whether a class computes what an output gives in a way that is not
// followed.
func (p port) computed() bool {
	name := p.passes()
	return name != nil && *name == ""
}

// passes returns what the table says that an output hands on, nil for nothing.
func (p port) passes() *string {
	if p.node.about == nil {
		return nil
	}
	for _, out := range []string{strconv.Itoa(p.slot), anyChoice} {
		if name, ok := p.node.about.Passes[out]; ok {
			return &name
		}
	}
	return nil
}

// describe looks up the classes of a graph's nodes and gives their inputs the names
// that the rules know.
func (g *graph) describe() {
	for _, n := range g.nodes {
		n.about = classOf(n.class, n.key)
		n.counted()
		if n.about == nil {
			continue
		}
		for i := range n.inputs {
			n.inputs[i].mean(n.about.Inputs)
		}
		n.decide()
	}
	for _, n := range g.nodes {
		n.vary()
	}
	g.gatherStreams()
	g.openBundles()
}

// mean applies the meaning of an input.
func (in *input) mean(meanings map[string]string) {
	meaning, ok := meanings[in.name]
	if !ok {
		return
	}
	if typ, isFile := strings.CutPrefix(meaning, "file:"); isFile {
		in.file = typ
		return
	}
	if in.full == "" {
		in.full = in.name
	}
	in.option = meaning == "-"
	in.name = meaning
	if in.option {
		in.name = "-" + in.full
	}
}
