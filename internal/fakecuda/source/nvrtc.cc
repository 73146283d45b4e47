// A compiler of kernels that hands them to g++. What it calls code for the device
// is a shared library with one more function for each kernel.
#include "fake.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using std::string;
using std::vector;

#define API(result, name) extern "C" __attribute__((visibility("default"))) result name

namespace {

const char define_macro[] = "--define-macro=";

const char prelude[] =
#include "prelude.inc"
	;

struct program {
	string source, log, image;
	bool ptx = false;
};

string read(const string &path) {
	std::ifstream in(path, std::ios::binary);
	return string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

bool write(const string &path, const string &text) {
	std::ofstream out(path, std::ios::binary);
	out << text;
	return bool(out.flush());
}

// compile returns what g++ makes of a source, from the folder of what was made
// before if it can.
bool compile(const string &source, string *library, string *log) {
	const char *named = getenv("FAKECUDA_CACHE"), *compiler = getenv("CXX");
	string folder = named ? named : "/tmp";
	char name[64];
	snprintf(name, sizeof name, "/kernels-%016zx", std::hash<string>()(source));
	string made = folder + name + ".so";
	if (named && !(*library = read(made)).empty()) return true;
	char work[4096];
	snprintf(work, sizeof work, "%s/compile-XXXXXX", folder.c_str());
	if (!mkdtemp(work)) {
		*log = "no folder for temporary files";
		return false;
	}
	string base = work;
	if (!write(base + "/kernels.cc", source)) return false;
	string command = string(compiler ? compiler : "g++") + " -std=c++17 -O1 -w -ffp-contract=off -fno-strict-aliasing -fPIC -shared -fvisibility=hidden -o " +
		base + "/kernels.so " + base + "/kernels.cc 2>&1";
	FILE *pipe = popen(command.c_str(), "r");
	char text[4096];
	for (size_t n; pipe && (n = fread(text, 1, sizeof text, pipe)) > 0;) log->append(text, n);
	bool ok = pipe && pclose(pipe) == 0;
	if (ok) *library = read(base + "/kernels.so");
	if (ok && named) rename((base + "/kernels.so").c_str(), made.c_str());
	unlink((base + "/kernels.so").c_str());
	unlink((base + "/kernels.cc").c_str());
	rmdir(work);
	return ok;
}

// kernels_of returns the names of kernels: the words that stand before the
// parameters of what is __global__.
vector<string> kernels_of(const string &source) {
	vector<string> names;
	for (size_t at = 0; (at = source.find("__global__ void ", at)) != string::npos;) {
		at += strlen("__global__ void ");
		size_t end = source.find('(', at), bounds = strlen("__launch_bounds__");
		if (!source.compare(at, bounds, "__launch_bounds__")) {
			at = source.find(')', at) + 2;
			end = source.find('(', at);
		}
		if (end == string::npos) break;
		names.push_back(source.substr(at, end - at));
	}
	return names;
}

} // namespace

// The version changes with the fake, so that what it made is not taken for what
// a later one would make.
API(int, nvrtcVersion)(int *major, int *minor) {
	*major = 12;
	*minor = 100000 + FAKECUDA_BUILD;
	return fake::fault("nvrtcVersion");
}

API(int, nvrtcGetNumSupportedArchs)(int *count) {
	*count = 3;
	return 0;
}

API(int, nvrtcGetSupportedArchs)(int *list) {
	list[0] = 80, list[1] = 89, list[2] = 90;
	return 0;
}

API(int, nvrtcCreateProgram)(void **made, const char *source, const char *, int headers, const char *const *, const char *const *) {
	if (!source || headers) return 3;
	*made = new program{source};
	return fake::fault("nvrtcCreateProgram");
}

API(int, nvrtcDestroyProgram)(void **p) {
	delete (program *)*p;
	*p = nullptr;
	return 0;
}

API(int, nvrtcCompileProgram)(void *handle, int count, const char *const *options) {
	auto p = (program *)handle;
	if (int code = fake::fault("nvrtcCompileProgram")) {
		p->log = "a failure that was asked for\n";
		return code;
	}
	// What is defined chooses a part of a source. All of it is compiled: once with g++ is
	// faster than part after part. Only a part with constants of its own is compiled alone.
	string defines, part;
	bool alone = false;
	for (int i = 0; i < count; i++) {
		string o = options[i];
		p->ptx |= o.find("=compute_") != string::npos;
		if (o.find(define_macro) == 0) {
			string name = o.substr(strlen(define_macro)), value = "1";
			if (size_t at = name.find('='); at != string::npos) value = name.substr(at + 1), name = name.substr(0, at), alone = true;
			if (name.find("PART_") == 0) part = name.substr(strlen("PART_"));
			defines += "#define " + name + " " + value + "\n";
		}
		if (o.find("--") && o.find("-D")) {
			p->log = "nvrtc: error: unrecognized option '" + o + "'\n";
			return 5;
		}
	}
	if (p->source.find("#include") != string::npos) {
		p->log = "kernels must do without headers\n";
		return 6;
	}
	string source = string(prelude) + (alone ? defines : "") + "#line 1 \"kernels.cu\"\n" + p->source + "\n";
	for (const string &name : alone ? vector<string>{part} : kernels_of(p->source))
		source += "extern \"C\" __attribute__((visibility(\"default\"))) void fk_call_" + name + "(void **p) { fk_invoke(&" + name + ", p); }\n" +
			"extern \"C\" __attribute__((visibility(\"default\"))) const size_t fk_size_" + name + " = fk_argument(&" + name + ");\n";
	string library;
	if (!compile(source, &library, &p->log)) return 6;
	uint64_t size = library.size();
	p->image.assign(fake::image_magic, sizeof fake::image_magic);
	p->image.append((const char *)&size, 8);
	p->image += library;
	return 0;
}

API(int, nvrtcGetProgramLogSize)(void *p, size_t *size) {
	*size = ((program *)p)->log.size() + 1;
	return 0;
}

API(int, nvrtcGetProgramLog)(void *p, char *text) {
	strcpy(text, ((program *)p)->log.c_str());
	return 0;
}

API(int, nvrtcGetCUBINSize)(void *p, size_t *size) {
	*size = ((program *)p)->ptx ? 0 : ((program *)p)->image.size();
	return 0;
}

API(int, nvrtcGetCUBIN)(void *p, char *image) {
	if (((program *)p)->ptx) return 3;
	memcpy(image, ((program *)p)->image.data(), ((program *)p)->image.size());
	return 0;
}

API(int, nvrtcGetPTXSize)(void *p, size_t *size) {
	*size = ((program *)p)->image.size();
	return 0;
}

API(int, nvrtcGetPTX)(void *p, char *image) {
	memcpy(image, ((program *)p)->image.data(), ((program *)p)->image.size());
	return 0;
}

API(const char *, nvrtcGetErrorString)(int code) {
	static const char *const names[] = {"NVRTC_SUCCESS", "NVRTC_ERROR_OUT_OF_MEMORY", "NVRTC_ERROR_PROGRAM_CREATION_FAILURE", "NVRTC_ERROR_INVALID_INPUT",
		"NVRTC_ERROR_INVALID_PROGRAM", "NVRTC_ERROR_INVALID_OPTION", "NVRTC_ERROR_COMPILATION", "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE"};
	return code >= 0 && code < 8 ? names[code] : "NVRTC_ERROR unknown";
}
