#include "control/text_file.hpp"

#include <array>
#include <cerrno>
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
    return read_text_stream(file.get(), path, most);
}

Result<std::string> read_text_stream(std::FILE* file, const std::string& name, std::size_t most) {
    std::string text;
    std::array<char, 65'536> part{};
    while (const std::size_t got = std::fread(part.data(), 1, part.size(), file)) {
        text.append(part.data(), got);
        if (text.size() > most) {
            return Error{Errc::TooMany,
                         name + " is larger than " + std::to_string(most >> 20) + " MiB"};
        }
    }
    if (std::ferror(file) != 0) {
        return Error{Errc::Unreachable,
                     "cannot read " + name + ": " + std::generic_category().message(errno)};
    }
    return text;
}

}  // namespace sluice
