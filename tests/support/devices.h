// Devices: the kinds that tests of the public API run on, each test once for each.
//
// A device joins by its row; what one cannot do has to be said where it is tested. `cpu` needs the
// compiler library: where it was not built, tests on it are skipped with that reason.
//
//     for (size_t i = 0; i < TEST_DEVICES; i++) tilec_device_open(context, test_devices[i], &d);
#ifndef TILEC_TESTS_SUPPORT_DEVICES_H
#define TILEC_TESTS_SUPPORT_DEVICES_H

static const char *const test_devices[] = {"interp", "cpu"};
enum { TEST_DEVICES = sizeof test_devices / sizeof *test_devices };

#endif
