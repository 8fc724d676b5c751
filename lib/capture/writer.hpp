#pragma once
#include "lib/base/result.hpp"
#include "lib/capture/frame.hpp"

#include <memory>
#include <string>

struct pcap_dumper;

namespace sluice {

// Writes a classic pcap with nanoseconds, Ethernet.
class CaptureWriter {
public:
    [[nodiscard]] static Result<CaptureWriter> create(const std::string& path);

    void write(const CapturedFrame& frame);
    // Ends the file; an Error says that not all of it could be written.
    [[nodiscard]] Result<Done> finish();

private:
    struct Close {
        void operator()(pcap_dumper* handle) const noexcept;
    };
    using Handle = std::unique_ptr<pcap_dumper, Close>;
    CaptureWriter(Handle handle, std::string path) noexcept
        : handle_{std::move(handle)}, path_{std::move(path)} {}

    Handle handle_;
    std::string path_;
};

}  // namespace sluice
