#include "control/text_file.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

namespace sluice {

Result<std::string> read_text_file(const std::string& path, std::size_t most) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::fopen(path.c_str(), "rb"),
                                                               &std::fclose};
    if (!file) {
        return Error{Errc::Unreachable,
                     "cannot read " + path + ": " + std::generic_category().message(errno)};
    }
    std::string text;
    std::array<char, 65'536> part{};
    while (const std::size_t got = std::fread(part.data(), 1, part.size(), file.get())) {
        text.append(part.data(), got);
        if (text.size() > most) {
            return Error{Errc::TooMany,
                         path + " is larger than " + std::to_string(most >> 20) + " MiB"};
        }
    }
    if (std::ferror(file.get()) != 0) {
        return Error{Errc::Unreachable,
                     "cannot read " + path + ": " + std::generic_category().message(errno)};
    }
    return text;
}

}  // namespace sluice
