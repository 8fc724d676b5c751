#pragma once
#include "lib/base/result.hpp"
#include "lib/capture/frame.hpp"

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace sluice {

// Writes pcapng, Ethernet, nanoseconds: frames that may each carry a comment (opt_comment).
class PcapngWriter {
public:
    static constexpr std::size_t kMostComment = 4096;  // bytes; longer ones are cut

    // `-`: standard output. `program`: named in the file.
    [[nodiscard]] static Result<PcapngWriter> create(const std::string& path,
                                                     std::string_view program);

    void write(const CapturedFrame& frame, std::string_view comment);
    // All records written so far are there for others.
    [[nodiscard]] Result<Done> flush();
    // Ends the file; an Error says that not all of it could be written.
    [[nodiscard]] Result<Done> finish();

private:
    struct Close {
        void operator()(std::FILE* stream) const noexcept;
    };
    using Stream = std::unique_ptr<std::FILE, Close>;
    PcapngWriter(Stream stream, std::string path) noexcept
        : stream_{std::move(stream)}, path_{std::move(path)} {}

    void put_block(std::uint32_t type, std::string_view body);
    [[nodiscard]] Error cannot_write(int why) const;

    Stream stream_;
    std::string path_;
};

}  // namespace sluice
