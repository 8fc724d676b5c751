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

std::string link_type_name(int link_type) {
    const char* known = pcap_datalink_val_to_name(link_type);
    return known != nullptr ? std::string{known} : std::to_string(link_type);
}

// The first octet tells pcapng from all forms of pcap.
Result<CaptureReader> CaptureReader::from_stream(std::FILE* stream, const std::string& name) {
    constexpr int kPcapngBegins = 0x0A;
    const int first = std::getc(stream);
    if (first != EOF) {
        (void)std::ungetc(first, stream);
    }
    if (first != kPcapngBegins) {
        return from_pcap(stream, name);
    }
    Result<PcapngReader> reader = PcapngReader::open(stream);
    if (!reader) {
        return Error{Errc::BadSyntax,
                     name + " is not a pcap or pcapng file: " + reader.error().what};
    }
    return CaptureReader{*std::move(reader)};
}

Result<CaptureReader> CaptureReader::from_pcap(std::FILE* stream, const std::string& name) {
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
        return Error{Errc::NotSupported, name + " was not captured on Ethernet but on link type " +
                                             link_type_name(link) +
                                             "; capture on an Ethernet interface"};
    }
    return CaptureReader{std::move(handle)};
}

CaptureReader::Next CaptureReader::next(CapturedFrame& frame) {
    return std::visit([&](auto& file) { return file.next(frame); }, file_);
}

const std::string& CaptureReader::fault() const noexcept {
    const auto* classic = std::get_if<Classic>(&file_);
    return classic != nullptr ? classic->fault : std::get_if<PcapngReader>(&file_)->fault();
}

const LeftOut& CaptureReader::left_out() const noexcept {
    const auto* classic = std::get_if<Classic>(&file_);
    return classic != nullptr ? classic->left_out : std::get_if<PcapngReader>(&file_)->left_out();
}

CaptureReader::Next CaptureReader::Classic::next(CapturedFrame& frame) {
    pcap_pkthdr* header = nullptr;
    const u_char* bytes = nullptr;
    const int outcome = pcap_next_ex(handle.get(), &header, &bytes);
    if (outcome == 1) {
        frame.number = ++read;
        frame.timestamp = capture_instant(header->ts.tv_sec, header->ts.tv_usec);
        frame.bytes = std::as_bytes(std::span{bytes, header->caplen});
        // A file can claim that less was on the wire than was captured.
        frame.wire_size = std::max(header->len, header->caplen);
        return Next::Frame;
    }
    if (outcome == PCAP_ERROR_BREAK) {
        return Next::End;
    }
    fault = pcap_geterr(handle.get());
    return std::feof(pcap_file(handle.get())) != 0 ? Next::Cut : Next::Broken;
}

}  // namespace sluice
