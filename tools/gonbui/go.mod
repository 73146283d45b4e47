module github.com/lectern-go/lectern/tools/gonbui

go 1.26.0

require github.com/janpfeifer/gonb v0.11.4

require (
	github.com/MetalBlueberry/go-plotly v0.7.0 // indirect
	github.com/go-logr/logr v1.4.2 // indirect
	github.com/gofrs/uuid v4.4.0+incompatible // indirect
	github.com/gowebapi/webapi v0.0.0-20221221115732-41cedfc27a0b // indirect
	github.com/pkg/errors v0.9.1 // indirect
	golang.org/x/exp v0.0.0-20250106191152-7588d65b2ba8 // indirect
	k8s.io/klog/v2 v2.130.1 // indirect
)
