#include "dataplane/xdp/pins.hpp"

#include <cctype>
#include <filesystem>
#include <string_view>

#include <linux/magic.h>
#include <sys/vfs.h>

namespace sluice {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";
constexpr std::size_t kLongestName = 255;  // of a file

// The file system for pins takes no dot, and a name has no slash.
std::string name_of(std::string_view text) {
    std::string name;
    for (const char sign : text) {
        const auto byte = static_cast<unsigned char>(sign);
        if (byte < 0x80 && (std::isalnum(byte) != 0 || sign == '-')) {
            name += sign;
        } else {
            name += {'_', kHex[byte >> 4], kHex[byte & 15]};
        }
    }
    return name;
}

const std::string& folder_for_pins(const BoxConfig& box) {
    static const KernelOptions defaults;
    return box.kernel ? box.kernel->pins : defaults.pins;
}

bool is_for_pins(const std::string& folder) {
    struct statfs info{};
    return ::statfs(folder.c_str(), &info) == 0 && info.f_type == BPF_FS_MAGIC;
}

}  // namespace

std::string pins_of_box(const BoxConfig& box) {
    return folder_for_pins(box) + "/sluice/" + name_of(box.state_dir);
}

std::string pins_of_pair(const BoxConfig& box, const std::string& pair) {
    return pins_of_box(box) + "/" + name_of(pair);
}

Result<Done> make_pins_folder(const BoxConfig& box, const std::string& folder) {
    if (!is_for_pins(folder_for_pins(box))) {
        return Error{Errc::NotSupported, folder_for_pins(box) +
                                             " is no file system for pins: `mount -t bpf bpf " +
                                             folder_for_pins(box) + "`, or set `pins` of `kernel`"};
    }
    const std::filesystem::path path{folder};
    for (const std::filesystem::path& part : path) {
        if (part.native().size() > kLongestName) {
            return Error{Errc::OutOfRange,
                         "the state directory and the names of pairs must be shorter for `kernel`"};
        }
    }
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (error) {
        return Error{Errc::Refused, "cannot make " + folder + ": " + error.message()};
    }
    return Done{};
}

Result<Done> remove_pins(const BoxConfig& box) {
    const std::filesystem::path folder = pins_of_box(box);
    std::error_code error;
    std::filesystem::remove_all(folder, error);
    if (error) {
        return Error{Errc::Refused, "cannot remove " + folder.string() + ": " + error.message()};
    }
    std::filesystem::remove(folder.parent_path(), error);  // only if it is empty: boxes share it
    return Done{};
}

}  // namespace sluice
