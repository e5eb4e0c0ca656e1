package container

import (
	"bytes"
	"encoding/binary"
)

// Bit rates in kbit/s by the index in a layer III frame header, and sample rates,
// of MPEG-1 (ISO/IEC 11172-3, 2.4.2.3); MPEG-2 and 2.5 have others.
var (
	mpeg1Rates  = [16]int{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320}
	mpeg2Rates  = [16]int{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160}
	sampleRates = [4]int{44100, 48000, 32000}
)

// isMP3 reports whether a file is an MP3 file without a tag, by the header of its first frame.
func isMP3(head []byte) bool {
	return len(head) >= 4 && head[0] == 0xFF && head[1]&0xE6 == 0xE2 && head[1]>>3&3 != 1 &&
		head[2]>>4 != 0 && head[2]>>4 != 15 && head[2]>>2&3 != 3
}

// mp3Length sets the duration: by the frame count in the first frame's Xing
// header if there is one, else by its bit rate.
func mp3Length(s source, off int64) {
	b := s.part(off, 4096)
	head := b.front(b.size)
	i := bytes.IndexByte(head, 0xFF)
	if i < 0 || len(head) < i+4 || head[i+1]&0xE6 != 0xE2 { // sync and layer III
		return
	}
	head = head[i:]
	version := head[1] >> 3 & 3
	var kbps int
	rate, samples := sampleRates[head[2]>>2&3], 576
	switch version {
	case 3:
		kbps, samples = mpeg1Rates[head[2]>>4], 1152
	case 2:
		kbps, rate = mpeg2Rates[head[2]>>4], rate/2
	case 0:
		kbps, rate = mpeg2Rates[head[2]>>4], rate/4
	default:
		return
	}
	if kbps == 0 || rate == 0 {
		return
	}
	if frames := xingFrames(head[:min(len(head), 256)]); frames > 0 {
		s.file.setDuration(1000 * float64(frames) * float64(samples) / float64(rate))
		return
	}
	s.file.setDuration(float64(s.size-off-int64(i)) * 8 / float64(kbps))
}

// xingFrames returns the number of frames that a Xing or Info header states.
func xingFrames(frame []byte) uint32 {
	for _, mark := range []string{"Xing", "Info"} {
		i := bytes.Index(frame, []byte(mark))
		if i >= 0 && len(frame) >= i+12 && frame[i+7]&1 != 0 {
			return binary.BigEndian.Uint32(frame[i+8:])
		}
	}
	return 0
}
