#include "dataplane/config/read_box.hpp"

#include "lib/wire/box_config_codec.hpp"
#include "lib/wire/fd.hpp"

#include <array>
#include <filesystem>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice {
namespace {

// Beside this program when both are installed, in the next folder of a build tree, else by PATH.
std::string find_sluicectl() {
    std::error_code error;
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
    for (const std::filesystem::path& candidate :
         {self.parent_path() / "sluicectl",
          self.parent_path().parent_path() / "control" / "cli" / "sluicectl"}) {
        if (std::filesystem::exists(candidate, error)) {
            return candidate.string();
        }
    }
    return "sluicectl";
}

// No more than one byte beyond what can be a message.
std::vector<std::byte> read_message(int fd) {
    std::vector<std::byte> message(kMaxBoxConfigSize + 1);
    std::size_t size = 0;
    for (ssize_t got = 0; (got = ::read(fd, message.data() + size, message.size() - size)) > 0;) {
        size += static_cast<std::size_t>(got);
    }
    message.resize(size);
    return message;
}

}  // namespace

Result<BoxConfig> read_box_file(const std::string& file) {
    const std::string program = find_sluicectl();
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        return Error{Errc::Unreachable, "cannot start " + program};
    }
    Fd from{ends[0]};
    Fd to{ends[1]};
    const pid_t child = ::fork();
    if (child == 0) {
        (void)::dup2(to.get(), STDOUT_FILENO);
        ::execlp(program.c_str(), program.c_str(), "box-config", "--", file.c_str(), nullptr);
        ::_exit(127);
    }
    to = Fd{};
    const std::vector<std::byte> message = read_message(from.get());
    from = Fd{};  // a child that goes on writing ends by it
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) != child || status != 0) {
        return Error{Errc::Refused,
                     file + " was refused by `" + program + " box-config`; see above"};
    }
    Result<BoxConfig> box = decode_box_config(message);
    if (!box) {
        return Error{Errc::Refused, file + ", compiled by `" + program + "`: " + box.error().what};
    }
    return box;
}

}  // namespace sluice
