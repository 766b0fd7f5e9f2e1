package main

import (
	"context"
	"encoding/json"
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	resourceslicetracker "k8s.io/dynamic-resource-allocation/resourceslice/tracker"
	"k8s.io/klog/v2"
	configv1 "k8s.io/kube-scheduler/config/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	configscheme "k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	schedulercache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/dynamicresources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	"k8s.io/kubernetes/pkg/scheduler/util/assumecache"
)

// oracle puts questions to plugins. What costs time to make and holds nothing of a case is made once.
type oracle struct {
	registry frameworkruntime.Registry
	// client is asked for nothing: informers are filled by hand, and never started.
	client clientset.Interface
	// dra knows of no devices.
	dra fwk.SharedDRAManager
}

func newOracle(ctx context.Context) (*oracle, error) {
	metrics.Register()
	client := fake.NewClientset()
	factory := informers.NewSharedInformerFactory(client, 0)
	claims := assumecache.NewAssumeCache(klog.FromContext(ctx), factory.Resource().V1().ResourceClaims().Informer(), "ResourceClaim", "", nil)
	slices, err := resourceslicetracker.StartTracker(ctx, resourceslicetracker.Options{
		SliceInformer: factory.Resource().V1().ResourceSlices(),
		KubeClient:    client,
	})
	if err != nil {
		return nil, err
	}
	return &oracle{
		registry: plugins.NewInTreeRegistry(),
		client:   client,
		dra:      dynamicresources.NewDRAManager(ctx, claims, slices, factory),
	}, nil
}

func (o *oracle) answer(ctx context.Context, asked *question) (*answer, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	snapshot, err := snapshotOf(ctx, asked)
	if err != nil {
		return nil, err
	}
	plugin, err := o.plugin(ctx, asked, snapshot)
	if err != nil {
		return nil, err
	}
	said := &answer{}
	if asking, ok := plugin.(fwk.PreEnqueuePlugin); ok {
		said.PreEnqueue = statusOf(asking.PreEnqueue(ctx, asked.Pod))
	}
	if sorting, ok := plugin.(fwk.QueueSortPlugin); ok && asked.Rival != nil {
		order, err := orderOf(sorting, asked.Pod, asked.Rival)
		if err != nil {
			return nil, err
		}
		said.Order = &order
	}
	all, err := snapshot.NodeInfos().List()
	if err != nil {
		return nil, err
	}
	state := framework.NewCycleState()
	left, err := judge(ctx, plugin, state, asked, snapshot, all, said)
	if err != nil || len(left) == 0 || len(asked.Added)+len(asked.Removed) > 0 {
		return said, err
	}
	score(ctx, plugin, state, asked.Pod, left, said)
	return said, nil
}

// snapshotOf is made by the scheduler's own cache, as in each of its cycles.
func snapshotOf(ctx context.Context, asked *question) (*schedulercache.Snapshot, error) {
	cache := schedulercache.New(ctx, nil,
		utilfeature.DefaultFeatureGate.Enabled(features.GenericWorkload),
		utilfeature.DefaultFeatureGate.Enabled(features.CompositePodGroup))
	logger := klog.FromContext(ctx)
	for _, node := range asked.Nodes {
		cache.AddNode(logger, node)
	}
	for _, pod := range asked.Pods {
		if err := cache.AddPod(logger, pod); err != nil {
			return nil, err
		}
	}
	snapshot := schedulercache.NewEmptySnapshot()
	return snapshot, cache.UpdateSnapshot(logger, snapshot)
}

// plugin makes the one that is asked for, with its arguments defaulted and checked, over the case's objects.
func (o *oracle) plugin(ctx context.Context, asked *question, snapshot *schedulercache.Snapshot) (fwk.Plugin, error) {
	factory := informers.NewSharedInformerFactory(o.client, 0)
	for _, raw := range asked.Objects {
		object, kind, err := clientscheme.Codecs.UniversalDeserializer().Decode(raw, nil, nil)
		if err != nil {
			return nil, err
		}
		resource, _ := meta.UnsafeGuessKindToResource(*kind)
		informer, err := factory.ForResource(resource)
		if err != nil {
			return nil, err
		}
		if err := informer.Informer().GetIndexer().Add(object); err != nil {
			return nil, err
		}
	}
	handle, err := frameworkruntime.NewFramework(ctx, o.registry, nil,
		frameworkruntime.WithClientSet(o.client),
		frameworkruntime.WithInformerFactory(factory),
		frameworkruntime.WithSnapshotSharedLister(snapshot),
		frameworkruntime.WithSharedDRAManager(o.dra),
		frameworkruntime.WithSharedCSIManager(nodevolumelimits.NewCSIManager(factory.Storage().V1().CSINodes().Lister())),
		// One goroutine a node of a small cluster costs more than it gains.
		frameworkruntime.WithParallelism(1),
	)
	if err != nil {
		return nil, err
	}
	args, err := argsOf(asked)
	if err != nil {
		return nil, err
	}
	factoryOf, ok := o.registry[asked.Plugin]
	if !ok {
		return nil, fmt.Errorf("kube-scheduler has no plugin %s", asked.Plugin)
	}
	return factoryOf(ctx, args, handle)
}

// argsOf is nil for plugins that take no arguments.
func argsOf(asked *question) (runtime.Object, error) {
	kind := configv1.SchemeGroupVersion.WithKind(asked.Plugin + "Args")
	if !configscheme.Scheme.Recognizes(kind) {
		return nil, nil
	}
	fields := map[string]json.RawMessage{}
	if len(asked.Args) > 0 {
		if err := json.Unmarshal(asked.Args, &fields); err != nil {
			return nil, err
		}
	}
	fields["apiVersion"] = json.RawMessage(fmt.Sprintf("%q", kind.GroupVersion()))
	fields["kind"] = json.RawMessage(fmt.Sprintf("%q", kind.Kind))
	text, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	args, _, err := configscheme.Codecs.UniversalDecoder().Decode(text, nil, nil)
	return args, err
}

func orderOf(plugin fwk.QueueSortPlugin, pod, rival *v1.Pod) (int, error) {
	first, err := queued(pod)
	if err != nil {
		return 0, err
	}
	second, err := queued(rival)
	if err != nil {
		return 0, err
	}
	switch {
	case plugin.Less(first, second):
		return -1, nil
	case plugin.Less(second, first):
		return 1, nil
	default:
		return 0, nil
	}
}

// queued is the pod in the queue since it was created.
func queued(pod *v1.Pod) (fwk.QueuedEntityInfo, error) {
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		return nil, err
	}
	return &framework.QueuedPodInfo{
		PodInfo:        info,
		QueueingParams: framework.QueueingParams{Timestamp: pod.CreationTimestamp.Time},
	}, nil
}
