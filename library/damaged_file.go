package library

import "time"

// FileProblem is what is wrong with a stored file.
type FileProblem string

// The problems of files.
const (
	FileMissing    FileProblem = "missing"    // there is no file
	FileSize       FileProblem = "size"       // it has another size
	FileHash       FileProblem = "hash"       // it has other bytes
	FileUnreadable FileProblem = "unreadable" // the disk does not return its bytes
)

// FileProblems lists every problem.
var FileProblems = []FileProblem{FileMissing, FileSize, FileHash, FileUnreadable}

// DamagedFile is a file that is not what was stored.
type DamagedFile struct {
	AssetKey
	Problem FileProblem
	FoundAt time.Time
}
