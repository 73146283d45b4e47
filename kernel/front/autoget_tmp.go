package main

func (k *kernel) fetches(path string) bool        { return false }
func (e *execution) autoget(path string) *failure { return nil }
