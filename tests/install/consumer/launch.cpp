/// \file
/// The example of docs/launcher.md, compiled from that page's own text: it must build against the
/// installed package, confine, and mirror the command's end. page_launch.hpp is what
/// install_and_consume.cmake took out of the page.
#include "page_launch.hpp"

int main(int argc, char** argv) {
  return argc == 2 ? run_walled(argv[1]) : 2;
}
