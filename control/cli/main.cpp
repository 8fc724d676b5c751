#include "control/cli/arguments.hpp"
#include "control/cli/terminal.hpp"
#include "control/json.hpp"
#include "lib/base/page_use.hpp"

#include <cerrno>
#include <cstdio>
#include <exception>
#include <new>
#include <system_error>

namespace sluice {
namespace {

ExitCode run(const Invocation& invocation) {
    set_colors(!invocation.options.no_color);
    try {
        return invocation.run(invocation.options);
    } catch (const Json::exception&) {
        say_error(
            "sluiced answered with other JSON than this sluicectl knows; "
            "compare `sluicectl --version` with the version of sluiced");
    } catch (const std::bad_alloc&) {
        say_error("out of memory");
    } catch (const std::exception& error) {
        say_error(error.what());
    }
    return ExitCode::Refused;
}

// Output that could not be written was not done.
ExitCode flushed(ExitCode exit) {
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
        say_error(std::string{"cannot write to standard output: "} +
                  std::generic_category().message(errno));
        return exit == ExitCode::Done ? ExitCode::Refused : exit;
    }
    return exit;
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
    sluice::use_pages_as_they_come();
    const auto read = sluice::read_arguments(argc, argv);
    const auto* exit = std::get_if<sluice::ExitCode>(&read);
    return static_cast<int>(
        sluice::flushed(exit != nullptr ? *exit : sluice::run(std::get<sluice::Invocation>(read))));
}
