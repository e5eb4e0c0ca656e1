package container

// The elements of Matroska and WebM that are read (RFC 9559).
const (
	idEBML            = 0x1A45DFA3
	idDocType         = 0x4282
	idSegment         = 0x18538067
	idSeekHead        = 0x114D9B74
	idSeek            = 0x4DBB
	idSeekID          = 0x53AB
	idSeekPosition    = 0x53AC
	idInfo            = 0x1549A966
	idTimestampScale  = 0x2AD7B1
	idDuration        = 0x4489
	idTitle           = 0x7BA9
	idWritingApp      = 0x5741
	idTracks          = 0x1654AE6B
	idTrackEntry      = 0xAE
	idDefaultDuration = 0x23E383
	idVideo           = 0xE0
	idTrackType       = 0x83
	idCodecID         = 0x86
	idPixelWidth      = 0xB0
	idPixelHeight     = 0xBA
	idCluster         = 0x1F43B675
	idCues            = 0x1C53BB6B
	idChapters        = 0x1043A770
	idAttachments     = 0x1941A469
	idTags            = 0x1254C367
	idTag             = 0x7373
	idSimpleTag       = 0x67C8
	idTagName         = 0x45A3
	idTagString       = 0x4487
)

// matroska reads Matroska and WebM files. Clusters, which hold the pictures, are
// stepped over by their size; tags are found before and behind them, and by the
// seek head when the way to them is broken.
type matroska struct {
	segment source
	seen    map[int64]bool // offsets of the elements that were read
	seek    []int64        // offsets that the seek head names
	scale   uint64         // nanoseconds per unit of duration
}

func readMatroska(s source) {
	walkElements(s, func(e element) bool {
		switch e.id {
		case idEBML:
			docType(s.file, e.body)
		case idSegment:
			if e.cut {
				s.cut("the Matroska segment")
			}
			m := matroska{segment: e.body, seen: map[int64]bool{}, scale: 1_000_000}
			m.walk()
			return false
		}
		return true
	})
}

func docType(f *File, s source) {
	f.MIME = "video/x-matroska"
	walkElements(s, func(e element) bool {
		if e.id == idDocType && string(e.body.front(4)) == "webm" {
			f.MIME = "video/webm"
		}
		return true
	})
}

// walk reads the segment's children in order, then what only the seek head finds.
// A cluster of unknown size is entered: its blocks are stepped over until the next
// element that belongs to the segment.
func (m *matroska) walk() {
	for off := int64(0); off < m.segment.size && m.segment.step(); {
		e, ok := nextElement(m.segment, off)
		if !ok || e.id == idSegment {
			break
		}
		off = e.next
		if e.open {
			off = e.at + m.headerSize(e)
		}
		if isTopLevel(e.id) {
			m.element(e)
		}
	}
	for _, off := range m.seek {
		if e, ok := nextElement(m.segment, off); ok && isTopLevel(e.id) && e.id != idSeekHead {
			m.element(e)
		}
	}
}

// headerSize is the length of an element's identifier and size.
func (m *matroska) headerSize(e element) int64 { return e.body.base - m.segment.base - e.at }

func isTopLevel(id uint32) bool {
	switch id {
	case idSeekHead, idInfo, idTracks, idCluster, idCues, idChapters, idAttachments, idTags:
		return true
	}
	return false
}

func (m *matroska) element(e element) {
	if m.seen[e.at] {
		return
	}
	m.seen[e.at] = true
	if e.cut {
		m.segment.cut("a Matroska element")
	}
	switch e.id {
	case idSeekHead:
		walkElements(e.body, m.seekEntry)
	case idInfo:
		m.info(e.body)
	case idTracks:
		walkElements(e.body, m.track)
	case idTags:
		walkElements(e.body, func(e element) bool {
			if e.id == idTag {
				m.tags(e.body, "", 0)
			}
			return true
		})
	}
}

// seekEntry remembers where an element is said to stand, relative to the segment.
func (m *matroska) seekEntry(e element) bool {
	if e.id != idSeek {
		return true
	}
	walkElements(e.body, func(e element) bool {
		if e.id == idSeekPosition {
			if at := e.integer(); at < uint64(m.segment.size) {
				m.seek = append(m.seek, int64(at))
			}
		}
		return true
	})
	return len(m.seek) < maxItems
}

func (m *matroska) info(s source) {
	var duration float64
	walkElements(s, func(e element) bool {
		switch e.id {
		case idTimestampScale:
			m.scale = e.integer()
		case idDuration:
			duration = e.float()
		case idTitle:
			s.add("mkv:info", "Title", e.text("the title"))
		case idWritingApp:
			s.add("mkv:info", "WritingApp", e.text("the writer's name"))
		}
		return true
	})
	s.file.setDuration(duration * float64(m.scale) / 1e6)
}

// track reads the size and rate of the first track with a picture.
func (m *matroska) track(e element) bool {
	f := m.segment.file
	if e.id != idTrackEntry {
		return true
	}
	m.codec(e)
	if f.Width > 0 {
		return true
	}
	var frameNS uint64
	walkElements(e.body, func(e element) bool {
		switch e.id {
		case idDefaultDuration:
			frameNS = e.integer()
		case idVideo:
			walkElements(e.body, func(e element) bool {
				switch e.id {
				case idPixelWidth:
					f.Width = dimension(uint32(min(e.integer(), 1<<31)))
				case idPixelHeight:
					f.Height = dimension(uint32(min(e.integer(), 1<<31)))
				}
				return true
			})
		}
		return true
	})
	if f.Width > 0 && frameNS > 0 {
		f.FPS = 1e9 / float64(frameNS)
	}
	return true
}

// codec keeps the codec of the first track with a picture and of the first with sound.
func (m *matroska) codec(track element) {
	var kind uint64
	var codec string
	walkElements(track.body, func(e element) bool {
		switch e.id {
		case idTrackType:
			kind = e.integer()
		case idCodecID:
			codec = clip(printable(e.text("the codec")))
		}
		return true
	})
	switch f := m.segment.file; {
	case kind == 1 && f.Codec == "":
		f.Codec = codec
	case kind == 2 && f.AudioCodec == "":
		f.AudioCodec = codec
	}
}

// tags keeps the simple tags in s, nested ones under their parent's name.
func (m *matroska) tags(s source, parent string, depth int) {
	if depth > maxDepth {
		return
	}
	walkElements(s, func(e element) bool {
		if e.id != idSimpleTag {
			return true
		}
		name, text := parent, ""
		walkElements(e.body, func(e element) bool {
			switch e.id { // in any order
			case idTagName:
				name = clip(under(parent, e.text("a tag's name")))
			case idTagString:
				text = e.text("a tag")
			}
			return true
		})
		s.add("mkv:tag", name, text)
		m.tags(e.body, name, depth+1)
		return true
	})
}
