/* The stages of neural networks as filters of the catalogue (catalog.h): layers, pools, functions
 * of one sample. Each appends its stages; `values` in the order of its row's parameters. */
#pragma once

#include "filters/catalog.h"

/* weights, tensor, bias, stride, padding, dilation, groups, border */
GfStatus gf_network_conv(const GfValue *values, GfFilter *filter);

/* size, stride, padding, dilation, ceil; of the mean also bias, tensor, count */
GfStatus gf_network_maxpool(const GfValue *values, GfFilter *filter);
GfStatus gf_network_l2pool(const GfValue *values, GfFilter *filter);
GfStatus gf_network_avgpool(const GfValue *values, GfFilter *filter);

/* weights, tensor, stride, padding, dilation, border */
GfStatus gf_network_wpool(const GfValue *values, GfFilter *filter);

GfStatus gf_network_relu(const GfValue *values, GfFilter *filter);
GfStatus gf_network_tanh(const GfValue *values, GfFilter *filter);
GfStatus gf_network_abs(const GfValue *values, GfFilter *filter);
GfStatus gf_network_sigmoid(const GfValue *values, GfFilter *filter); /* bias */
GfStatus gf_network_clamp(const GfValue *values, GfFilter *filter);   /* low, high */
GfStatus gf_network_scale(const GfValue *values, GfFilter *filter);   /* factor, offset */
