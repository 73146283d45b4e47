package live

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The archive of a compiled package holds what compilers of its importers read, and an object
// file for each of its parts.
const (
	archiveBegin  = "!<arch>\n"
	archiveHeader = 60 // bytes: name, date, user, group and mode; then ten digits of the size, and two bytes
	exportsName   = "__.PKGDEF"
	exportsBegin  = "\n$$B\n"
	exportsEnd    = "\n$$\n"
)

// An object file begins with this, eight bytes and four more, and where each of its blocks begins. Those named are the
// symbols that are known by their content, and a hash of that for each.
const (
	objectMagic   = "\x00go120ld"
	objectBlocks  = 19
	blockHashed   = 5
	blockHash     = 10
	symbolBytes   = 21
	hashBytes     = 16
	objectOffsets = len(objectMagic) + 8 + 4
)

var errArchive = errors.New("it does not look as expected; this version of Go is not known here yet")

// A leaner removes from archives what a page has no use for.
type leaner struct {
	numbers map[[hashBytes]byte]uint64
}

// lean returns the archive of a package without what compilers of its importers read, unless cells can import it. Most
// hashes, which can't be packed, become numbers: the linker only asks which of them are the same. The compiler in the
// page goes on writing hashes, which are never that small, so what both have then exists twice. Only symbols that
// nothing compares may be numbered: tables and texts. Others, above all those that say how a type implements an
// interface, are compared when a program runs.
func (l *leaner) lean(archive []byte, importable bool) ([]byte, error) {
	rest, ok := bytes.CutPrefix(archive, []byte(archiveBegin))
	if !ok {
		return nil, errArchive
	}
	out := []byte(archiveBegin)
	for len(rest) > 0 {
		if len(rest) < archiveHeader {
			return nil, errArchive
		}
		header := slices.Clone(rest[:archiveHeader])
		size, err := strconv.Atoi(strings.TrimSpace(string(header[48:58])))
		if err != nil || size < 0 || size > len(rest)-archiveHeader {
			return nil, errArchive
		}
		content := slices.Clone(rest[archiveHeader:][:size])
		rest = rest[min(len(rest), archiveHeader+size+size%2):]
		if strings.TrimSpace(string(header[:16])) == exportsName {
			if !importable {
				at := bytes.Index(content, []byte(exportsBegin))
				if at < 0 {
					return nil, errArchive
				}
				content = append(content[:at+len(exportsBegin)], exportsEnd...)
				copy(header[48:58], fmt.Sprintf("%-10d", len(content)))
			}
		} else if err := l.number(content); err != nil {
			return nil, err
		}
		out = append(append(out, header...), content...)
		if len(content)%2 != 0 {
			out = append(out, 0)
		}
	}
	return out, nil
}

// numbered reports whether a symbol is a table or a text. Tables that say where code is have no name.
func numbered(name string) bool {
	return name == "" || strings.HasPrefix(name, "gclocals·") || strings.HasPrefix(name, "go:string.") || strings.HasPrefix(name, "type:.namedata.") ||
		strings.HasSuffix(name, ".arginfo1") || strings.HasSuffix(name, ".stkobj")
}

// number replaces hashes of an object file with numbers, the same hash with the same number in all files.
func (l *leaner) number(object []byte) error {
	at := bytes.Index(object, []byte(objectMagic))
	if at < 0 {
		return nil // something else
	}
	if object = object[at:]; len(object) < objectOffsets+4*objectBlocks {
		return errArchive
	}
	block := func(i int) int { return int(binary.LittleEndian.Uint32(object[objectOffsets+4*i:])) }
	first, last, begin, end := block(blockHashed), block(blockHashed+1), block(blockHash), block(blockHash+1)
	if first > last || last > begin || begin > end || end > len(object) || (last-first)%symbolBytes != 0 || (last-first)/symbolBytes*hashBytes != end-begin {
		return errArchive
	}
	for ; first < last; first, begin = first+symbolBytes, begin+hashBytes {
		length, at := int(binary.LittleEndian.Uint32(object[first:])), int(binary.LittleEndian.Uint32(object[first+4:]))
		if at > len(object) || length > len(object)-at {
			return errArchive
		}
		if !numbered(string(object[at : at+length])) {
			continue
		}
		hash := object[begin : begin+hashBytes]
		key := [hashBytes]byte(hash)
		n, ok := l.numbers[key]
		if !ok {
			n = uint64(len(l.numbers))
			l.numbers[key] = n
		}
		clear(hash)
		binary.BigEndian.PutUint64(hash, n)
	}
	return nil
}
