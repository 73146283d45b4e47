//go:build unix && !linux

package main

// Only Linux lets a process adopt orphans. Elsewhere what leaves GoNB's process group is not found.
func adoptOrphans() {}

func reapOrphans() {}

func noOrphan(int) {}

const killedAsOthers, killedFirst = 0, 0

// Only Linux ends a process to free memory for others.
func whenOutOfMemory(int, int) {}
