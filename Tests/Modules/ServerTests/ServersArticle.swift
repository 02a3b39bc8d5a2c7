// SPDX-License-Identifier: Apache-2.0
//
// The snippets of the article, to the letter; a project test compares them.

#if Server
  import Keepsake
  import KeepsakeHub
  import KeepsakeServer
  import Logging
  import Metrics
  import MetricsTestKit
  import ServiceLifecycle
  import Synchronization
  import Testing

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
        SyncService(device, copy) { error in logger.error("not synced: \(error)") },
        HubService(device, hub) { error in logger.error("not synced: \(error)") },
      ],
      gracefulShutdownSignals: [.sigterm], logger: logger)
    try await services.run()
  }

  private func count(_ device: Device) -> DeviceMetrics {
    MetricsSystem.bootstrap(StreamMetricsFactory.standardOutput())
    let metrics = DeviceMetrics(device)
    return metrics
  }

  @Suite struct ServicesArticle {
    private final class Lines: TextOutputStream, Sendable {
      let text = Mutex("")

      func write(_ text: String) { self.text.withLock { $0 += text } }
    }

    @Test func aWriteIsALine() throws {
      let (device, lines) = (try Device.inMemory(), Lines())
      let metrics = DeviceMetrics(device, factory: StreamMetricsFactory(stream: lines))
      try CloudKeyValueStore(on: device).write(1, for: "a")
      let line = """
        increment counter metric.name=keepsake_writes_total metric.amount=1

        """
      #expect(lines.text.withLock { $0 }.contains(line))
      withExtendedLifetime(metrics) {}
    }
  }
#endif
