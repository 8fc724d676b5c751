#include "lib/base/device_text.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace sluice {
namespace {

// How many numbers `7` or `2-5` stands for.
std::size_t count_range(std::string_view text) {
    unsigned from = 0;
    unsigned to = 0;
    const char* const last = text.data() + text.size();
    const auto first = std::from_chars(text.data(), last, from);
    if (first.ec != std::errc{} || first.ptr == last) {
        return first.ec == std::errc{} ? 1 : 0;
    }
    const auto second = std::from_chars(first.ptr + 1, last, to);
    const bool good = *first.ptr == '-' && second.ec == std::errc{} && second.ptr == last;
    return good && to >= from ? to - from + 1 : 0;
}

}  // namespace

bool is_pci(const std::string& device) {
    const std::string address = device.substr(0, device.find(','));
    const bool letters = std::all_of(address.begin(), address.end(), [](char c) {
        return std::isxdigit(static_cast<unsigned char>(c)) != 0 || c == ':' || c == '.';
    });
    return letters && address.find(':') != std::string::npos &&
           address.find('.') != std::string::npos;
}

std::string device_argument(const std::string& device, const std::string& key) {
    for (std::size_t at = device.find(','); at != std::string::npos; at = device.find(',', at)) {
        ++at;
        if (device.compare(at, key.size() + 1, key + "=") == 0) {
            const std::size_t from = at + key.size() + 1;
            return device.substr(from, device.find(',', from) - from);
        }
    }
    return {};
}

std::vector<std::string> interfaces_of(const std::string& device) {
    std::vector<std::string> found;
    for (const char* key : {"iface", "rx_iface", "rx_iface_in", "tx_iface"}) {
        const std::string name = device_argument(device, key);
        if (!name.empty() && std::find(found.begin(), found.end(), name) == found.end()) {
            found.push_back(name);
        }
    }
    return found;
}

std::string other_program_text(const std::string& interface, unsigned number, bool is_native) {
    const std::string id = std::to_string(number);
    return "the XDP program " + id + (is_native ? " (native)" : " (generic)") + " at " + interface +
           " is not this box's and takes each frame first: what it drops, sends on or gives to "
           "others is never judged. `bpftool prog show id " +
           id + "` says what it is, `ip link set dev " + interface +
           (is_native ? " xdpdrv" : " xdpgeneric") + " off` takes it away";
}

// CPUs behind an @, where the lcores run, do not count.
std::size_t count_lcores(std::string_view list) {
    std::size_t count = 0;
    bool group = false;
    bool place = false;
    std::string_view word;
    for (std::size_t at = 0; at <= list.size(); ++at) {
        const char c = at < list.size() ? list[at] : ',';
        if (c == '@' || c == ',' || c == '(' || c == ')') {
            count += place ? 0 : count_range(word);
            word = {};
            group = c == '(' || (group && c != ')');
            place = c == '@' || (place && (group || c != ','));
        } else {
            word = list.substr(at - word.size(), word.size() + 1);
        }
    }
    return count;
}

}  // namespace sluice
