#include "lib/capture/writer.hpp"

#include <pcap/pcap.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

namespace sluice {
namespace {

constexpr int kSnapLength = 262'144;  // the most libpcap reads back
constexpr std::int64_t kPerSecond = 1'000'000'000;

}  // namespace

void CaptureWriter::Close::operator()(pcap_dumper* handle) const noexcept {
    pcap_dump_close(handle);
}

Result<CaptureWriter> CaptureWriter::create(const std::string& path) {
    std::FILE* stream = std::fopen(path.c_str(), "wb");
    if (stream == nullptr) {
        return Error{Errc::Unreachable,
                     "cannot write " + path + ": " + std::generic_category().message(errno)};
    }
    const std::unique_ptr<pcap_t, decltype(&pcap_close)> form{
        pcap_open_dead_with_tstamp_precision(DLT_EN10MB, kSnapLength, PCAP_TSTAMP_PRECISION_NANO),
        &pcap_close};
    Handle handle{form ? pcap_dump_fopen(form.get(), stream) : nullptr};
    if (!handle) {
        std::fclose(stream);
        return Error{Errc::Unreachable, "cannot write " + path};
    }
    return CaptureWriter{std::move(handle), path};
}

void CaptureWriter::write(const CapturedFrame& frame) {
    const std::int64_t since_epoch = frame.timestamp.time_since_epoch().count();
    pcap_pkthdr header{};
    header.ts.tv_sec = since_epoch / kPerSecond;
    header.ts.tv_usec = since_epoch % kPerSecond;  // the file says that these are nanoseconds
    header.caplen = static_cast<bpf_u_int32>(frame.bytes.size());
    header.len = frame.wire_size;
    pcap_dump(reinterpret_cast<u_char*>(handle_.get()), &header,
              reinterpret_cast<const u_char*>(frame.bytes.data()));
}

Result<Done> CaptureWriter::finish() {
    std::FILE* stream = pcap_dump_file(handle_.get());
    const bool whole = pcap_dump_flush(handle_.get()) == 0 && std::ferror(stream) == 0;
    const int why = errno;
    handle_.reset();
    if (!whole) {
        return Error{Errc::Unreachable,
                     "cannot write " + path_ + ": " + std::generic_category().message(why)};
    }
    return Done{};
}

}  // namespace sluice
