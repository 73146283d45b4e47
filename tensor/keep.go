package tensor

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/lectern-go/lectern/autograd"
	"github.com/lectern-go/lectern/internal/cellstate"
	"github.com/lectern-go/lectern/tensor/internal/memory"
)

// What is kept of tensors from one notebook cell to the next: values, layout, and the place in the graph, for
// which see keepgraph.go. Package kernel/persist calls what is registered with cellstate here, and the methods of
// types that users don't see.

// keptTensor is the kept state of a Tensor.
type keptTensor struct {
	Storage        *memory.Storage
	Shape, Strides []int
	Offset         int
	Dtype          Dtype
	Base           *Tensor
	Node           *keptNode
}

// The exported methods of these types show nothing of how they are kept.
func init() {
	cellstate.RegisterType(keepTensor, restoreTensor)
	cellstate.RegisterType(keepStorage, restoreStorage)
	cellstate.RegisterType(keepDevice, restoreDevice)
	cellstate.RegisterType(keepGenerator, restoreGenerator)
}

func keepTensor(t *Tensor) any {
	return &keptTensor{Storage: t.storage, Shape: t.layout.Shape, Strides: t.layout.Strides, Offset: t.layout.Offset, Dtype: t.dtype,
		Base: t.base, Node: (*keptNode)(t.graph())}
}

func restoreTensor(t *Tensor, state any) {
	s := state.(*keptTensor)
	*t = Tensor{storage: s.Storage, layout: Layout{Shape: slices.Clip(s.Shape), Strides: slices.Clip(s.Strides), Offset: s.Offset}, dtype: s.Dtype, base: s.Base,
		node: (*autograd.Node[*Tensor])(s.Node)}
}

// keptDevice is the kept state of a Device.
type keptDevice struct{ Name string }

func keepDevice(d *Device) any { return &keptDevice{d.String()} }

// restoreDevice finds the device again. A program without that device goes on with the
// processor.
func restoreDevice(d *Device, state any) { *d, _ = FindDevice(state.(*keptDevice).Name) }

// keptStorage is the kept state of a storage: keep maps Bytes into memory.
type keptStorage struct {
	Bytes   []byte
	Version uint64
	Role    Role
	Device  string // where the bytes came from; empty for the processor
	Freed   bool   // there are no bytes any more
}

func keepStorage(s *memory.Storage) any {
	state := &keptStorage{Version: s.Version.Load(), Role: Role(s.Role.Load()), Freed: s.Freed()}
	if s.Device != nil {
		state.Device = s.Device.Name()
	}
	switch {
	case s.Size == 0, s.Freed():
	case s.Device == nil:
		state.Bytes = bytesOf(s)
	default:
		if s.Mirror != nil && s.Mirrored == state.Version {
			state.Bytes = s.Mirror
			break
		}
		state.Bytes = make([]byte, s.Size)
		if err := s.Device.Download(state.Bytes, s.Memory, 0); err != nil {
			failOnDevice("keep", fmt.Sprintf("%d bytes", s.Size), state.Device, err)
		}
	}
	return state
}

// restoreStorage takes over the bytes without copying: slices that [Data] and RawBytes returned, or that [Wrap] was
// given, are restored into the same memory. Bytes of a device go back to it; in a program without that device they
// stay on the processor.
func restoreStorage(s *memory.Storage, state any) {
	kept := state.(*keptStorage)
	if kept.Freed {
		s.SetFreed()
	}
	s.Lend() // values that earlier cells took from s were kept, too
	s.Version.Store(kept.Version)
	s.Role.Store(uint32(kept.Role))
	if on, err := FindDevice(kept.Device); kept.Device != "" && err == nil {
		s.Device, s.Size = on.backend, len(kept.Bytes)
		if s.Size == 0 {
			return
		}
		s.Mirror, s.Mirrored = kept.Bytes, kept.Version
		if s.Memory, err = on.backend.Allocate(s.Size, false); err == nil {
			err = on.backend.Upload(s.Memory, 0, kept.Bytes)
		}
		if err != nil {
			failOnDevice("keep", fmt.Sprintf("%d bytes", s.Size), kept.Device, err)
		}
		return
	}
	s.Data, s.Size = unsafe.Pointer(unsafe.SliceData(kept.Bytes)), len(kept.Bytes)
}
