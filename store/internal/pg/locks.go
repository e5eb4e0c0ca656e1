package pg

import "hash/fnv"

// The advisory locks of work that one process at a time does. They live as long
// as the connection that took them.
const (
	GenerationsLock int64 = 0x76697472696e6501
	EmbeddingLock   int64 = 0x76697472696e6502
	ReconcileLock   int64 = 0x76697472696e6503
	RestoreLock     int64 = 0x76697472696e6504
	OwnerLock       int64 = 0x76697472696e6505
	DuplicatesLock  int64 = 0x76697472696e6506 // with the tenant
	LinkLock        int64 = 0x76697472696e6507 // of prompts and images; with the tenant
)

// LockOf returns the lock of one among many things: it follows from the thing's name.
func LockOf(lock int64, name string) int64 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // never fails
	return lock ^ int64(h.Sum32())<<8
}
