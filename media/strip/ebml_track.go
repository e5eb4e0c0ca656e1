package strip

import "bytes"

// track looks at a track's entry, and into the configuration of its decoder.
func (x *ebml) track(start, n int64) error {
	if _, err := x.walk(idTrack, start, start+n); err != nil {
		return err
	}
	var number uint64
	var codec string
	var private [2]int64
	var packed bool
	err := x.children(start, start+n, func(id uint64, off, size int64) error {
		b, err := x.in.bytes(off, min(size, 64))
		switch id {
		case 0xd7:
			for _, c := range b {
				number = number<<8 | uint64(c)
			}
		case 0x86:
			codec = string(bytes.TrimRight(b, "\x00"))
		case idCodecPrivate:
			private = [2]int64{off, size}
		case idEncodings:
			packed = true
		}
		return err
	})
	if err != nil {
		return err
	}
	conf, err := x.in.bytes(private[0], private[1])
	if err != nil {
		return err
	}
	before := bytes.Clone(conf)
	switch codec {
	case "V_MPEG4/ISO/AVC", "V_MPEGH/ISO/HEVC":
		c, ok := configuration(conf, codec == "V_MPEGH/ISO/HEVC", x.plan)
		if !ok || packed {
			return &Error{CodeUnsupported, "The pictures of the video are packed in a way that cannot be looked into."}
		}
		x.films[number] = c
	case "A_VORBIS":
		blankVorbis(conf, x.plan)
	case "A_FLAC":
		blankFLAC(conf, x.plan)
	}
	if !bytes.Equal(before, conf) {
		x.blanks.put(private[0], conf)
	}
	return nil
}

// children calls fn with the elements from off to end.
func (x *ebml) children(off, end int64, fn func(id uint64, off, size int64) error) error {
	for off < end {
		id, a, err := x.vint(off, true)
		if err != nil {
			return err
		}
		size, b, err := x.vint(off+a, false)
		if err != nil {
			return err
		}
		if size > uint64(end-off-a-b) {
			return damaged("an element reaches beyond its end")
		}
		if err := fn(id, off+a+b, int64(size)); err != nil {
			return err
		}
		off += a + b + int64(size)
	}
	return nil
}

// block looks into a block of a track that is coded in NAL units.
func (x *ebml) block(start, n int64) error {
	number, k, err := x.vint(start, false)
	if err != nil || n < k+3 {
		return err
	}
	c, ours := x.films[number]
	if !ours {
		return nil
	}
	head, err := x.window.bytes(start+k, 3)
	if err != nil {
		return err
	}
	if head[2]&0x06 != 0 {
		return &Error{CodeUnsupported, "The pictures of the video are packed in a way that cannot be looked into."}
	}
	return c.cleanUnits(&x.window, &x.blanks, x.plan, start+k+3, start+n)
}

// blankVorbis overwrites the comments in the three headers of a Vorbis track: what remains is a
// program's name of spaces, and no comment.
func blankVorbis(conf []byte, p *plan) {
	if len(conf) < 3 || conf[0] != 2 {
		return
	}
	at, sizes := 1, [2]int{}
	for i := range sizes {
		for at < len(conf) && conf[at] == 0xff {
			sizes[i], at = sizes[i]+255, at+1
		}
		if at < len(conf) {
			sizes[i], at = sizes[i]+int(conf[at]), at+1
		}
	}
	from := at + sizes[0]
	if from > len(conf) || sizes[1] > len(conf)-from || sizes[1] < 16 || string(conf[from:from+7]) != "\x03vorbis" {
		return
	}
	blankComments(conf[from+7:from+sizes[1]-1], p)
}

// blankFLAC overwrites the comments and all other blocks but the first in a FLAC track's header.
func blankFLAC(conf []byte, p *plan) {
	at := 4 // behind "fLaC"
	for at+4 <= len(conf) {
		n := min(int(conf[at+1])<<16|int(conf[at+2])<<8|int(conf[at+3]), len(conf)-at-4)
		body := conf[at+4 : at+4+n]
		switch kind := conf[at] & 0x7f; {
		case kind == 4 && n >= 8:
			blankComments(body, p)
		case kind != 0 && kind != 3 && len(bytes.Trim(body, "\x00")) > 0:
			conf[at] = conf[at]&0x80 | 1 // padding
			clear(body)
			p.drop("FLAC block")
		}
		at += 4 + n
	}
}

// blankComments makes a list of comments one that has a name of a program, all of spaces, and no comment.
func blankComments(b []byte, p *plan) {
	n := len(b) - 8
	want := append([]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)}, bytes.Repeat([]byte(" "), n)...)
	want = append(want, 0, 0, 0, 0)
	if !bytes.Equal(b, want) {
		p.drop("comments")
		copy(b, want)
	}
}
