package main

import "github.com/lectern-go/lectern/kernel/front/internal/rewrite"

type stepRecord struct{ src *rewrite.Source }

func newStepRecord(src *rewrite.Source) *stepRecord   { return &stepRecord{src} }
func (s *stepRecord) print(text string)               {}
func (s *stepRecord) message(kind string, f []string) {}
func (s *stepRecord) show(e *execution)               {}
