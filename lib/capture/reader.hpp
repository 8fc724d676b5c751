#pragma once
#include "lib/base/result.hpp"
#include "lib/capture/frame.hpp"
#include "lib/capture/left_out.hpp"
#include "lib/capture/pcapng_reader.hpp"

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <variant>

struct pcap;

namespace sluice {

// Reads a capture record by record: pcap in both byte orders, with microseconds or nanoseconds, and
// pcapng. Memory does not grow with the file. Ethernet only: a pcap of another link type is refused
// on opening; of a pcapng the frames of such interfaces are left out, counted and numbered.
class CaptureReader {
public:
    using Next = CaptureNext;

    // "-" is standard input. Errors: BadSyntax (no capture), NotSupported (not Ethernet),
    // Unreachable (cannot be opened).
    [[nodiscard]] static Result<CaptureReader> open(const std::string& path);
    // The same for a stream that is open already. Takes the stream over, also on error.
    [[nodiscard]] static Result<CaptureReader> from_stream(std::FILE* stream,
                                                           const std::string& name);

    // After anything but Frame there is nothing more to read.
    [[nodiscard]] Next next(CapturedFrame& frame);
    [[nodiscard]] const std::string& fault() const noexcept;
    // So far.
    [[nodiscard]] const LeftOut& left_out() const noexcept;

private:
    struct Close {
        void operator()(pcap* handle) const noexcept;
    };
    using Handle = std::unique_ptr<pcap, Close>;
    // A classic pcap, through libpcap.
    struct Classic {
        Handle handle;
        std::uint64_t read = 0;
        std::string fault{};
        LeftOut left_out{};

        [[nodiscard]] Next next(CapturedFrame& frame);
    };
    explicit CaptureReader(Handle handle) noexcept : file_{Classic{std::move(handle)}} {}
    explicit CaptureReader(PcapngReader reader) noexcept : file_{std::move(reader)} {}
    [[nodiscard]] static Result<CaptureReader> from_pcap(std::FILE* stream,
                                                         const std::string& name);

    std::variant<Classic, PcapngReader> file_;
};

// A link type's name as libpcap knows it, or its number.
[[nodiscard]] std::string link_type_name(int link_type);

}  // namespace sluice
