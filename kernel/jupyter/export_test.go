package jupyter

import "time"

// SetEndGrace sets how long a kernel that has closed a connection may take to end.
func (o *StartOptions) SetEndGrace(d time.Duration) { o.endGrace = d }
