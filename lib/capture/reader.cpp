#include "lib/capture/reader.hpp"

#include "lib/capture/timestamp.hpp"

#include <pcap/pcap.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

namespace sluice {

void CaptureReader::Close::operator()(pcap* handle) const noexcept {
    pcap_close(handle);
}

Result<CaptureReader> CaptureReader::open(const std::string& path) {
    if (path == "-") {
        return from_stream(stdin, "standard input");
    }
    std::FILE* stream = std::fopen(path.c_str(), "rb");
    if (stream == nullptr) {
        return Error{Errc::Unreachable,
                     "cannot open " + path + ": " + std::generic_category().message(errno)};
    }
    return from_stream(stream, path);
}

Result<CaptureReader> CaptureReader::from_stream(std::FILE* stream, const std::string& name) {
    std::array<char, PCAP_ERRBUF_SIZE> why{};
    Handle handle{
        pcap_fopen_offline_with_tstamp_precision(stream, PCAP_TSTAMP_PRECISION_NANO, why.data())};
    if (!handle) {
        if (stream != stdin) {
            std::fclose(stream);
        }
        return Error{Errc::BadSyntax,
                     name + " is not a pcap or pcapng file: " + std::string{why.data()}};
    }
    const int link = pcap_datalink(handle.get());
    if (link != DLT_EN10MB) {
        const char* known = pcap_datalink_val_to_name(link);
        return Error{Errc::NotSupported,
                     name + " was not captured on Ethernet but on link type " +
                         (known != nullptr ? std::string{known} : std::to_string(link)) +
                         "; capture on an Ethernet interface"};
    }
    return CaptureReader{std::move(handle)};
}

CaptureReader::Next CaptureReader::next(CapturedFrame& frame) {
    pcap_pkthdr* header = nullptr;
    const u_char* bytes = nullptr;
    const int outcome = pcap_next_ex(handle_.get(), &header, &bytes);
    if (outcome == 1) {
        frame.number = ++read_;
        frame.timestamp = capture_instant(header->ts.tv_sec, header->ts.tv_usec);
        frame.bytes = std::as_bytes(std::span{bytes, header->caplen});
        // A file can claim that less was on the wire than was captured.
        frame.wire_size = std::max(header->len, header->caplen);
        return Next::Frame;
    }
    if (outcome == PCAP_ERROR_BREAK) {
        return Next::End;
    }
    fault_ = pcap_geterr(handle_.get());
    return std::feof(pcap_file(handle_.get())) != 0 ? Next::Cut : Next::Broken;
}

}  // namespace sluice
