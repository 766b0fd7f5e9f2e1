// Command e2e-scheduling runs the scheduling specs of Kubernetes' end-to-end tests against the cluster of a kubeconfig. It has the flags
// of e2e.test, without its other specs and the libraries of cloud providers.
package main

import (
	"context"
	"flag"
	"os"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	"k8s.io/component-base/logs"
	"k8s.io/kubernetes/test/e2e/framework"
	"k8s.io/kubernetes/test/e2e/framework/config"
	e2enode "k8s.io/kubernetes/test/e2e/framework/node"
	_ "k8s.io/kubernetes/test/e2e/framework/node/init"
	_ "k8s.io/kubernetes/test/e2e/scheduling"
)

// The parts of the setup of e2e.test that the scheduling specs need.
var _ = ginkgo.BeforeSuite(func(ctx context.Context) {
	client, err := framework.LoadClientset()
	framework.ExpectNoError(err, "loading the client")
	framework.ExpectNoError(e2enode.WaitForAllNodesSchedulable(ctx, client, framework.NewTimeoutContext().NodeSchedulable))
	nodes, err := e2enode.GetReadySchedulableNodes(ctx, client)
	framework.ExpectNoError(err, "listing nodes")
	framework.TestContext.CloudConfig.NumNodes = len(nodes.Items)
	framework.TestContext.IPFamily = "ipv4"
})

// suite stands in for the testing.T of `go test`.
type suite struct{}

// Fail has nothing to do: RunSpecs returns the result, too.
func (suite) Fail() {}

func main() {
	config.CopyFlags(config.Flags, flag.CommandLine)
	framework.RegisterCommonFlags(flag.CommandLine)
	framework.RegisterClusterFlags(flag.CommandLine)
	flag.Parse()
	framework.AfterReadingAllFlags(&framework.TestContext)
	logs.InitLogs()
	gomega.RegisterFailHandler(framework.Fail)
	suiteConfig, reporterConfig := framework.CreateGinkgoConfig()
	if !ginkgo.RunSpecs(suite{}, "Kubernetes e2e suite", suiteConfig, reporterConfig) {
		os.Exit(1)
	}
}
