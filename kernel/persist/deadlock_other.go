//go:build !lectern_cell || !go1.26 || go1.28

package persist

import "time"

// Where we can't know whether a timer is pending, waiting is never called a deadlock.

func nextTimer() time.Duration { return 0 }

func outside() string { return unknown }

func dropStoppedTimers() {}
