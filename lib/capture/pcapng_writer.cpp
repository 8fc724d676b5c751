#include "lib/capture/pcapng_writer.hpp"

#include "lib/capture/pcapng_format.hpp"

#include <algorithm>
#include <cerrno>
#include <span>
#include <system_error>
#include <utility>

namespace sluice {
namespace {

constexpr std::uint16_t kEthernet = 1;
constexpr std::byte kNanoseconds{9};  // ten to the power of minus that

// The body of a block, in the order of bytes of this machine, which the section says.
class BlockBody {
public:
    template <typename T>
    BlockBody& number(T value) {
        return raw(std::as_bytes(std::span{&value, 1}));
    }
    BlockBody& raw(ByteView bytes) {
        body_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return *this;
    }
    BlockBody& padded(ByteView bytes) {
        raw(bytes);
        body_.resize((body_.size() + 3) / 4 * 4);
        return *this;
    }
    BlockBody& option(std::uint16_t code, ByteView value) {
        return number(code).number(static_cast<std::uint16_t>(value.size())).padded(value);
    }
    BlockBody& end_options() { return number(pcapng::kEndOfOptions).number(std::uint16_t{0}); }
    [[nodiscard]] std::string_view bytes() const noexcept { return body_; }

private:
    std::string body_;
};

// Not within a character of UTF-8.
std::string_view cut_comment(std::string_view text, std::size_t most) {
    if (text.size() <= most) {
        return text;
    }
    while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) {
        --most;
    }
    return text.substr(0, most);
}

}  // namespace

void PcapngWriter::Close::operator()(std::FILE* stream) const noexcept {
    if (stream != stdout) {
        std::fclose(stream);
    }
}

Error PcapngWriter::cannot_write(int why) const {
    return {Errc::Unreachable,
            "cannot write " + path_ + ": " + std::generic_category().message(why)};
}

Result<PcapngWriter> PcapngWriter::create(const std::string& path, std::string_view program) {
    const bool to_stdout = path == "-";
    Stream stream{to_stdout ? stdout : std::fopen(path.c_str(), "wb")};
    PcapngWriter writer{std::move(stream), to_stdout ? "standard output" : path};
    if (!writer.stream_) {
        return writer.cannot_write(errno);
    }
    BlockBody section;
    section.number(pcapng::kOrderMagic).number(std::uint16_t{1}).number(std::uint16_t{0});
    section.number(std::int64_t{-1})
        .option(pcapng::kUserApplication, bytes_of(program))
        .end_options();
    writer.put_block(pcapng::kSectionHeader, section.bytes());
    BlockBody interface;
    interface.number(kEthernet).number(std::uint16_t{0}).number(pcapng::kMostCaptured);
    interface.option(pcapng::kTimeResolution, ByteView{&kNanoseconds, 1}).end_options();
    writer.put_block(pcapng::kInterface, interface.bytes());
    if (const Result<Done> begun = writer.flush(); !begun) {
        return begun.error();
    }
    return writer;
}

void PcapngWriter::put_block(std::uint32_t type, std::string_view body) {
    constexpr std::size_t kAround = 3 * sizeof(std::uint32_t);
    const auto size = static_cast<std::uint32_t>(body.size() + kAround);
    (void)std::fwrite(&type, sizeof(type), 1, stream_.get());
    (void)std::fwrite(&size, sizeof(size), 1, stream_.get());
    (void)std::fwrite(body.data(), 1, body.size(), stream_.get());
    (void)std::fwrite(&size, sizeof(size), 1, stream_.get());
}

void PcapngWriter::write(const CapturedFrame& frame, std::string_view comment) {
    const auto since_epoch = static_cast<std::uint64_t>(frame.timestamp.time_since_epoch().count());
    BlockBody body;
    body.number(std::uint32_t{0})
        .number(static_cast<std::uint32_t>(since_epoch >> 32))
        .number(static_cast<std::uint32_t>(since_epoch))
        .number(static_cast<std::uint32_t>(frame.bytes.size()))
        .number(frame.wire_size)
        .padded(frame.bytes);
    if (!comment.empty()) {
        body.option(pcapng::kComment, bytes_of(cut_comment(comment, kMostComment))).end_options();
    }
    put_block(pcapng::kEnhancedPacket, body.bytes());
}

Result<Done> PcapngWriter::flush() {
    if (std::fflush(stream_.get()) != 0 || std::ferror(stream_.get()) != 0) {
        return cannot_write(errno);
    }
    return Done{};
}

Result<Done> PcapngWriter::finish() {
    const Result<Done> flushed = flush();
    std::FILE* const stream = stream_.release();
    if (stream != stdout && std::fclose(stream) != 0 && flushed) {
        return cannot_write(errno);
    }
    return flushed;
}

}  // namespace sluice
