package rewrite

func (s *Session) explain(e *Error, next *Session) {}
