// SPDX-License-Identifier: Apache-2.0
//
// The snippets of the article, to the letter; a project test compares them.

#if Services && Metrics
  import Keepsake
  import KeepsakeHub
  import Logging
  import MetricsKeepsake
  import ServiceLifecycle
  import ServiceLifecycleKeepsake

  private func restart(because key: String) async throws {}

  struct DeviceLog: Service {
    let settings: SettingsStore

    func run() async throws {
      let observation = ObservationService(settings, .prefix("http.")) { changes in
        for change in changes { try await restart(because: change.key) }
      }
      try await observation.run()
    }
  }

  private func serve(
    _ device: Device, _ copy: Device, _ hub: Hub, _ settings: SettingsStore, _ logger: Logger
  ) async throws {
    let services = ServiceGroup(
      services: [
        DeviceLog(settings: settings),
        SyncService(device, copy) { error in logger.error("not met: \(error)") },
        HubService(device, hub) { error in logger.error("not met: \(error)") },
      ],
      gracefulShutdownSignals: [.sigterm], logger: logger)
    try await services.run()
  }

  private func count(_ device: Device) -> DeviceMetrics {
    let metrics = DeviceMetrics(device, name: "settings")
    return metrics
  }
#endif
