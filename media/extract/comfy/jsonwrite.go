package comfy

import (
	"encoding/json"
	"strconv"
)

func isValidJSON(b []byte) bool { return json.Valid(b) }

// encode writes a value as JSON, with null where a document had a token that
// JSON does not know.
func (v value) encode(b []byte) []byte {
	switch v.kind {
	case kindBool, kindNumber:
		if v.kind == kindNumber && !json.Valid([]byte(v.text)) {
			f, _ := strconv.ParseFloat(v.text, 64)
			return strconv.AppendFloat(b, f, 'g', -1, 64)
		}
		return append(b, v.text...)
	case kindString:
		return appendString(b, v.text)
	case kindArray:
		b = append(b, '[')
		for i := range v.list {
			if i > 0 {
				b = append(b, ',')
			}
			b = v.list[i].encode(b)
		}
		return append(b, ']')
	case kindObject:
		b = append(b, '{')
		for i := range v.members {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendString(b, v.members[i].name), ':')
			b = v.members[i].val.encode(b)
		}
		return append(b, '}')
	}
	return append(b, "null"...)
}

func appendString(b []byte, s string) []byte {
	quoted, err := json.Marshal(s)
	if err != nil {
		return append(b, `""`...)
	}
	return append(b, quoted...)
}
