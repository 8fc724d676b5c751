#pragma once
#include "lib/base/result.hpp"
#include "lib/capture/frame.hpp"

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

struct pcap;

namespace sluice {

// Reads a capture record by record: pcap in both byte orders, with microseconds or nanoseconds, and
// pcapng. Memory does not grow with the file. Ethernet only: other link types are refused on
// opening.
class CaptureReader {
public:
    enum class Next : std::uint8_t {
        Frame,
        End,
        Cut,     // the file ends inside a record: what came before is good
        Broken,  // a record contradicts itself; fault() says how
    };

    // "-" is standard input. Errors: BadSyntax (no capture), NotSupported (not Ethernet),
    // Unreachable (cannot be opened).
    [[nodiscard]] static Result<CaptureReader> open(const std::string& path);
    // The same for a stream that is open already. Takes the stream over, also on error.
    [[nodiscard]] static Result<CaptureReader> from_stream(std::FILE* stream,
                                                           const std::string& name);

    // After anything but Frame there is nothing more to read.
    [[nodiscard]] Next next(CapturedFrame& frame);
    [[nodiscard]] const std::string& fault() const noexcept { return fault_; }

private:
    struct Close {
        void operator()(pcap* handle) const noexcept;
    };
    using Handle = std::unique_ptr<pcap, Close>;
    explicit CaptureReader(Handle handle) noexcept : handle_{std::move(handle)} {}

    Handle handle_;
    std::uint64_t read_ = 0;
    std::string fault_;
};

}  // namespace sluice
