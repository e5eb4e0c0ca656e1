package comfy

import (
	"slices"
	"strconv"
	"strings"

	"vitrine/internal/jsonscan"
)

// executedMutations are ways to write an executed graph.
var executedMutations = []mutation{
	{"members in another order", shuffleMembers, false},
	{"ids with a prefix", func(m *mutator, doc value) value {
		return renameIDs(doc, func(id string) string { return "57:" + id })
	}, false},
	{"ids drawn anew", func(m *mutator, doc value) value {
		names := map[string]string{}
		return renameIDs(doc, func(id string) string {
			if names[id] == "" {
				names[id] = strconv.Itoa(1_000_000 + m.IntN(1_000_000_000))
			}
			return names[id]
		})
	}, true},
	{"links by number", func(_ *mutator, doc value) value {
		return eachLink(doc, func(_ *value, _ string, link *value) {
			if _, err := strconv.Atoi(link.List[0].Text); err == nil {
				link.List[0].Kind = jsonscan.Number
			}
		})
	}, false},
	{"reroutes on every link", func(m *mutator, doc value) value {
		return insertOnLinks(m, doc, func(string, string) bool { return true }, func(link value) value {
			return nodeValue("Reroute", "", link)
		})
	}, false},
	{"titles that mislead", func(m *mutator, doc value) value {
		titles := []string{"Negative Prompt", "Positive Prompt", "KSampler", "Load LoRA", "negative", "seed"}
		return eachNode(doc, func(_ string, n *value) {
			*at(n, "_meta") = objectValue("title", textValue(titles[m.IntN(len(titles))]))
		})
	}, false},
	{"marks of a changed node", func(_ *mutator, doc value) value {
		return eachNode(doc, func(_ string, n *value) { *at(n, "is_changed") = listValue(value{Kind: jsonscan.Number, Text: "NaN"}) })
	}, false},
	{"branches that lead nowhere", func(m *mutator, doc value) value {
		ckpt, clip, k := m.id(""), m.id(""), m.id("")
		doc.Members = append(doc.Members,
			pair(ckpt, nodeValue("CheckpointLoaderSimple", "ckpt_name", textValue("never-used.safetensors"))),
			pair(clip, nodeValue("CLIPTextEncode", "text", textValue("never used"), "clip", linkValue(ckpt, 1))),
			pair(k, nodeValue("KSampler", "seed", numberValue(999), "steps", numberValue(99), "cfg", numberValue(9), "sampler_name", textValue("lms"), "scheduler", textValue("karras"), "denoise", numberValue(1),
				"model", linkValue(ckpt, 0), "positive", linkValue(clip, 0), "negative", linkValue(clip, 0), "latent_image", linkValue(m.id(""), 0))),
			pair(m.id(""), nodeValue("LoraLoader", "lora_name", textValue("never-used-lora.safetensors"), "strength_model", numberValue(1), "strength_clip", numberValue(1), "model", linkValue(ckpt, 0), "clip", linkValue(ckpt, 1))),
			pair(m.id(""), nodeValue("LoadImage", "image", textValue("never-used.png"))))
		return doc
	}, false},
	{"settings in nodes of their own", settingsApart, false},
	{"texts in nodes of their own", textsApart, false},
	{"unknown patches on models", func(m *mutator, doc value) value {
		return insertOnLinks(m, doc, func(class, in string) bool { return in == "model" && strings.Contains(class, "Sampler") }, func(link value) value {
			return nodeValue("Zorkmid Attention Tuner", "model", link, "amount", numberValue(0.7), "mode", textValue("deep"))
		})
	}, false},
	{"unknown steps on conditionings", func(m *mutator, doc value) value {
		return insertOnLinks(m, doc, func(class, in string) bool {
			return (in == "positive" || in == "negative") && !strings.Contains(class, "Loader") // a loader takes texts
		}, func(link value) value {
			return nodeValue("Zorkmid Conditioning Bender", "conditioning", link, "amount", numberValue(0.7))
		})
	}, false},
	{"unknown steps on pictures", func(m *mutator, doc value) value {
		return insertOnLinks(m, doc, func(class, in string) bool { return in == "images" && strings.HasPrefix(class, "Save") }, func(link value) value {
			return nodeValue("Zorkmid Film Grain", "image", link, "grain", numberValue(0.2), "seed", numberValue(77))
		})
	}, false},
	{"unknown steps on latents", func(m *mutator, doc value) value {
		return insertOnLinks(m, doc, func(class, in string) bool { return in == "samples" && strings.HasPrefix(class, "VAEDecode") }, func(link value) value {
			return nodeValue("Zorkmid Latent Balance", "samples", link, "strength", numberValue(0.2))
		})
	}, false},
	{"models switched by a chosen branch", func(m *mutator, doc value) value {
		other := m.id("")
		doc = insertOnLinks(m, doc, func(class, in string) bool { return in == "model" && strings.Contains(class, "Sampler") }, func(link value) value {
			return nodeValue("ImpactSwitch", "select", numberValue(2), "sel_mode", value{Kind: jsonscan.Bool, Text: "false"}, "input1", linkValue(other, 0), "input2", link)
		})
		doc.Members = append(doc.Members, pair(other, nodeValue("UNETLoader", "unet_name", textValue("not-chosen.safetensors"), "weight_dtype", textValue("default"))))
		return doc
	}, false},
}

func shuffleMembers(m *mutator, v value) value {
	m.Shuffle(len(v.Members), func(i, j int) { v.Members[i], v.Members[j] = v.Members[j], v.Members[i] })
	for i := range v.Members {
		v.Members[i].Val = shuffleMembers(m, v.Members[i].Val)
	}
	return v
}

// eachNode visits the nodes of an executed graph.
func eachNode(doc value, visit func(id string, n *value)) value {
	for i := range doc.Members {
		if doc.Members[i].Val.Get("class_type").Kind == jsonscan.String {
			visit(doc.Members[i].Name, &doc.Members[i].Val)
		}
	}
	return doc
}

// eachLink visits the links of an executed graph with their node and input.
func eachLink(doc value, visit func(n *value, in string, link *value)) value {
	ids := map[string]bool{}
	eachNode(doc, func(id string, _ *value) { ids[id] = true })
	return eachNode(doc, func(_ string, n *value) {
		if n.Get("inputs").Kind != jsonscan.Object {
			return
		}
		inputs := at(n, "inputs")
		for i := range inputs.Members {
			if v := &inputs.Members[i].Val; v.Kind == jsonscan.Array && len(v.List) == 2 && v.List[1].Kind == jsonscan.Number && ids[v.List[0].ID()] {
				visit(n, inputs.Members[i].Name, v)
			}
		}
	})
}

func renameIDs(doc value, name func(string) string) value {
	eachLink(doc, func(_ *value, _ string, link *value) { link.List[0] = textValue(name(link.List[0].ID())) })
	for i := range doc.Members {
		if doc.Members[i].Val.Get("class_type").Kind == jsonscan.String {
			doc.Members[i].Name = name(doc.Members[i].Name)
		}
	}
	return doc
}

// insertOnLinks puts a node on every link that is chosen by its end.
func insertOnLinks(m *mutator, doc value, chosen func(class, in string) bool, make func(link value) value) value {
	var added []member
	eachLink(doc, func(n *value, in string, link *value) {
		if !chosen(n.Get("class_type").Text, in) {
			return
		}
		id := m.id("")
		added = append(added, pair(id, make(clone(*link))))
		*link = linkValue(id, 0)
	})
	doc.Members = append(doc.Members, added...)
	return doc
}

func linkValue(id string, slot int) value { return listValue(textValue(id), numberValue(slot)) }

func nodeValue(class string, inputs ...any) value {
	return objectValue("inputs", objectValue(inputs...), "class_type", textValue(class))
}

// settingsApart moves numbers of samplers and latents into nodes that hold one value.
func settingsApart(m *mutator, doc value) value {
	moved := []string{"seed", "noise_seed", "steps", "cfg", "width", "height", "denoise"}
	return intoNodes(m, doc, func(class, in string, v value) (value, bool) {
		if v.Kind != jsonscan.Number || !slices.Contains(moved, in) || class == "PrimitiveInt" {
			return value{}, false
		}
		if strings.Contains(v.Text, ".") || in == "cfg" || in == "denoise" {
			return nodeValue("PrimitiveFloat", "value", v), true
		}
		return nodeValue("PrimitiveInt", "value", v), true
	})
}

func textsApart(m *mutator, doc value) value {
	return intoNodes(m, doc, func(class, in string, v value) (value, bool) {
		if v.Kind != jsonscan.String || in != "text" || class != "CLIPTextEncode" {
			return value{}, false
		}
		return nodeValue("Zorkmid Text Box", "text", v), true
	})
}

// intoNodes replaces values by links to nodes that hold them.
func intoNodes(m *mutator, doc value, move func(class, in string, v value) (value, bool)) value {
	var added []member
	eachNode(doc, func(_ string, n *value) {
		if n.Get("inputs").Kind != jsonscan.Object {
			return
		}
		inputs := at(n, "inputs")
		for i := range inputs.Members {
			if holder, ok := move(n.Get("class_type").Text, inputs.Members[i].Name, inputs.Members[i].Val); ok {
				id := m.id("")
				added = append(added, pair(id, holder))
				inputs.Members[i].Val = linkValue(id, 0)
			}
		}
	})
	doc.Members = append(doc.Members, added...)
	return doc
}
