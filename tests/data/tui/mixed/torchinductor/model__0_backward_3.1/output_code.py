# AOT ID: ['0_backward']
from ctypes import c_void_p, c_long, c_int
import torch
import math
import random
import os
import tempfile
from math import inf, nan
from cmath import nanj
from torch._inductor.hooks import run_intermediate_hooks
from torch._inductor.utils import maybe_profile
from torch._inductor.codegen.memory_planning import _align as align
from torch import device, empty_strided
from torch._inductor.async_compile import AsyncCompile
from torch._inductor.select_algorithm import extern_kernels

aten = torch.ops.aten
inductor_ops = torch.ops.inductor
_quantized = torch.ops._quantized
assert_size_stride = torch._C._dynamo.guards.assert_size_stride
assert_alignment = torch._C._dynamo.guards.assert_alignment
empty_strided_cpu = torch._C._dynamo.guards._empty_strided_cpu
empty_strided_cpu_pinned = torch._C._dynamo.guards._empty_strided_cpu_pinned
empty_strided_cuda = torch._C._dynamo.guards._empty_strided_cuda
empty_strided_xpu = torch._C._dynamo.guards._empty_strided_xpu
empty_strided_mtia = torch._C._dynamo.guards._empty_strided_mtia
reinterpret_tensor = torch._C._dynamo.guards._reinterpret_tensor
alloc_from_pool = torch.ops.inductor._alloc_from_pool
async_compile = AsyncCompile()
empty_strided_p2p = torch._C._distributed_c10d._SymmetricMemory.empty_strided_p2p


cpp_fused_abs_div_eq_expand_flip_mul_neg_sgn_sum_unsqueeze_view_0 = async_compile.cpp_pybinding(['const float*', 'const float*', 'const float*', 'const float*', 'int64_t*', 'float*', 'float*'], r'''
#include <torch/csrc/inductor/cpp_prefix.h>
extern "C"  void  kernel(const float* in_ptr0,
                       const float* in_ptr1,
                       const float* in_ptr2,
                       const float* in_ptr3,
                       int64_t* out_ptr0,
                       float* out_ptr1,
                       float* out_ptr2)
{
    std::atomic<int> inductor_cpu_integer_div_error{0};
    inductor_cpu_integer_div_error_flag = &inductor_cpu_integer_div_error;
    #pragma omp parallel
    {
        int tid = omp_get_thread_num();
        {
            #pragma omp for
            for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(4L); x0+=static_cast<int64_t>(1L))
            {
                for(int64_t x1=static_cast<int64_t>(0L); x1<static_cast<int64_t>(1024L); x1+=static_cast<int64_t>(16L))
                {
                    {
                        int64_t tmp_acc0 = 0;
                        at::vec::VectorizedN<int64_t,2> tmp_acc0_vec = at::vec::VectorizedN<int64_t,2>(0);
                        for(int64_t x2=static_cast<int64_t>(0L); x2<static_cast<int64_t>(16L); x2+=static_cast<int64_t>(1L))
                        {
                            {
                                if(C10_LIKELY(x1 >= static_cast<int64_t>(0) && x1 < static_cast<int64_t>(1024L)))
                                {
                                    auto tmp0 = at::vec::Vectorized<float>::loadu(in_ptr0 + static_cast<int64_t>(x1 + 1024L*x0), static_cast<int64_t>(16));
                                    auto tmp1 = at::vec::Vectorized<float>::loadu(in_ptr1 + static_cast<int64_t>(x1 + 1024L*x2 + 16384L*x0), static_cast<int64_t>(16));
                                    auto tmp2 = tmp1.abs();
                                    auto tmp3 = at::vec::VecMask<float,1>(tmp0 == tmp2);
                                    auto tmp4 = tmp3.to<int64_t,2>();
                                    tmp_acc0_vec = tmp_acc0_vec + tmp4;
                                }
                            }
                        }
                        if(C10_LIKELY(x1 >= static_cast<int64_t>(0) && x1 < static_cast<int64_t>(1024L)))
                        {
                            tmp_acc0_vec.store(out_ptr0 + static_cast<int64_t>(x1 + 1024L*x0), static_cast<int64_t>(16));
                        }
                    }
                }
            }
        }
        {
            #pragma omp for
            for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(16L); x0+=static_cast<int64_t>(1L))
            {
                for(int64_t x1=static_cast<int64_t>(0L); x1<static_cast<int64_t>(32L); x1+=static_cast<int64_t>(16L))
                {
                    {
                        float tmp_acc0 = 0;
                        at::vec::Vectorized<float> tmp_acc0_vec = at::vec::Vectorized<float>(0);
                        for(int64_t x2=static_cast<int64_t>(0L); x2<static_cast<int64_t>(4L); x2+=static_cast<int64_t>(1L))
                        {
                            for(int64_t x3=static_cast<int64_t>(0L); x3<static_cast<int64_t>(32L); x3+=static_cast<int64_t>(1L))
                            {
                                {
                                    if(C10_LIKELY(x1 >= static_cast<int64_t>(0) && x1 < static_cast<int64_t>(32L)))
                                    {
                                        auto tmp0 = at::vec::Vectorized<float>::loadu(in_ptr2 + static_cast<int64_t>(x1 + 32L*x3 + 1024L*x2), static_cast<int64_t>(16));
                                        auto tmp1 = at::vec::VectorizedN<int64_t,2>::loadu(out_ptr0 + static_cast<int64_t>(x1 + 32L*x3 + 1024L*x2), static_cast<int64_t>(16));
                                        auto tmp4 = at::vec::Vectorized<float>::loadu(in_ptr0 + static_cast<int64_t>(x1 + 32L*x3 + 1024L*x2), static_cast<int64_t>(16));
                                        auto tmp5 = at::vec::Vectorized<float>::loadu(in_ptr1 + static_cast<int64_t>(x1 + 32L*x3 + 1024L*x0 + 16384L*x2), static_cast<int64_t>(16));
                                        auto tmp2 = at::vec::convert<float,1,int64_t,2>(tmp1);
                                        auto tmp3 = tmp0 / tmp2;
                                        auto tmp6 = tmp5.abs();
                                        auto tmp7 = at::vec::VecMask<float,1>(tmp4 == tmp6);
                                        auto tmp8 = tmp7.to<float,1>();
                                        auto tmp9 = tmp3 * tmp8;
                                        auto tmp10 =
                                        [&]()
                                        {
                                            auto left = decltype(tmp5)::blendv(decltype(tmp5)(0), decltype(tmp5)(1), decltype(tmp5)(0) < tmp5);
                                            auto right = decltype(tmp5)::blendv(decltype(tmp5)(0), decltype(tmp5)(1), tmp5 < decltype(tmp5)(0));
                                            return left - right;
                                        }
                                        ()
                                        ;
                                        auto tmp11 = tmp9 * tmp10;
                                        auto tmp12 = tmp11.neg();
                                        tmp_acc0_vec = tmp_acc0_vec + tmp12;
                                    }
                                }
                            }
                        }
                        if(C10_LIKELY(x1 >= static_cast<int64_t>(0) && x1 < static_cast<int64_t>(32L)))
                        {
                            tmp_acc0_vec.store(out_ptr1 + static_cast<int64_t>(x1 + 32L*x0));
                        }
                    }
                }
            }
        }
        {
            #pragma omp for
            for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(4L); x0+=static_cast<int64_t>(1L))
            {
                #pragma GCC ivdep
                for(int64_t x1=static_cast<int64_t>(0L); x1<static_cast<int64_t>(512L); x1+=static_cast<int64_t>(1L))
                {
                    #pragma GCC ivdep
                    for(int64_t x2=static_cast<int64_t>(0L); x2<static_cast<int64_t>(32L); x2+=static_cast<int64_t>(1L))
                    {
                        {
                            {
                                auto tmp0 = in_ptr3[static_cast<int64_t>(31L + ((-1L)*x2) + 32L*x1)];
                                out_ptr2[static_cast<int64_t>(x2 + 32L*x1 + 16384L*x0)] = tmp0;
                            }
                        }
                    }
                }
            }
        }
    }
    inductor_cpu_integer_div_error_flag = nullptr;
    inductor_cpu_throw_if_integer_div_error(inductor_cpu_integer_div_error);
}
''')


cpp_fused__softmax__softmax_backward_data_add_flip_mul_transpose_view_1 = async_compile.cpp_pybinding(['float*', 'float*', 'const float*', 'const float*', 'const float*', 'const float*', 'const float*', 'float*', 'float*'], r'''
#include <torch/csrc/inductor/cpp_prefix.h>
extern "C"  void  kernel(float* in_out_ptr0,
                       float* in_out_ptr1,
                       const float* in_ptr1,
                       const float* in_ptr2,
                       const float* in_ptr3,
                       const float* in_ptr4,
                       const float* in_ptr5,
                       float* out_ptr1,
                       float* out_ptr2)
{
    std::atomic<int> inductor_cpu_integer_div_error{0};
    inductor_cpu_integer_div_error_flag = &inductor_cpu_integer_div_error;
    auto in_ptr0 = in_out_ptr0;
    auto out_ptr0 = in_out_ptr1;
    #pragma omp parallel
    {
        int tid = omp_get_thread_num();
        {
            #pragma omp for
            for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(64L); x0+=static_cast<int64_t>(1L))
            {
                #pragma GCC ivdep
                for(int64_t x1=static_cast<int64_t>(0L); x1<static_cast<int64_t>(32L); x1+=static_cast<int64_t>(1L))
                {
                    for(int64_t x2=static_cast<int64_t>(0L); x2<static_cast<int64_t>(32L); x2+=static_cast<int64_t>(16L))
                    {
                        {
                            if(C10_LIKELY(x2 >= static_cast<int64_t>(0) && x2 < static_cast<int64_t>(32L)))
                            {
                                auto tmp0 = at::vec::Vectorized<float>::loadu(in_ptr0 + static_cast<int64_t>(x2 + 32L*x1 + 1024L*x0), static_cast<int64_t>(16));
                                auto tmp1 = at::vec::Vectorized<float>::loadu(in_ptr1 + static_cast<int64_t>(x2 + 32L*x0), static_cast<int64_t>(16));
                                auto tmp4 = at::vec::Vectorized<float>::loadu(in_ptr2 + static_cast<int64_t>(x2 + 32L*x0), static_cast<int64_t>(16));
                                auto tmp2 = tmp0 - tmp1;
                                auto tmp3 = tmp2.exp();
                                auto tmp5 = tmp3 / tmp4;
                                tmp5.store(out_ptr0 + static_cast<int64_t>(x2 + 32L*x1 + 1024L*x0));
                            }
                        }
                    }
                }
            }
        }
        {
            #pragma omp for
            for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(2048L); x0+=static_cast<int64_t>(1L))
            {
                for(int64_t x1=static_cast<int64_t>(0L); x1<static_cast<int64_t>(32L); x1+=static_cast<int64_t>(16L))
                {
                    {
                        if(C10_LIKELY(x1 >= static_cast<int64_t>(0) && x1 < static_cast<int64_t>(32L)))
                        {
                            auto tmp0 = at::vec::Vectorized<float>::loadu(in_out_ptr0 + static_cast<int64_t>(x1 + 32L*x0), static_cast<int64_t>(16));
                            auto tmp1 = in_ptr3[static_cast<int64_t>(x0)];
                            auto tmp5 = in_ptr4[static_cast<int64_t>(x0)];
                            auto tmp2 = at::vec::Vectorized<float>(tmp1);
                            auto tmp3 = tmp0 - tmp2;
                            auto tmp4 = tmp3.exp();
                            auto tmp6 = at::vec::Vectorized<float>(tmp5);
                            auto tmp7 = tmp4 / tmp6;
                            tmp7.store(in_out_ptr0 + static_cast<int64_t>(x1 + 32L*x0));
                        }
                    }
                }
            }
        }
        {
            #pragma omp for
            for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(64L); x0+=static_cast<int64_t>(1L))
            {
                for(int64_t x1=static_cast<int64_t>(0L); x1<static_cast<int64_t>(32L); x1+=static_cast<int64_t>(16L))
                {
                    {
                        float tmp_acc0 = 0;
                        at::vec::Vectorized<float> tmp_acc0_vec = at::vec::Vectorized<float>(0);
                        float tmp_acc1 = 0;
                        at::vec::Vectorized<float> tmp_acc1_vec = at::vec::Vectorized<float>(0);
                        for(int64_t x2=static_cast<int64_t>(0L); x2<static_cast<int64_t>(32L); x2+=static_cast<int64_t>(16L))
                        {
                            {
                                if(C10_LIKELY(x1 >= static_cast<int64_t>(0) && x1 < static_cast<int64_t>(32L) && x2 >= static_cast<int64_t>(0) && x2 < static_cast<int64_t>(32L)))
                                {
                                    alignas(std::max(std::size_t(16), alignof(float))) float tmp6[16*16];
                                    transpose_mxn<float,static_cast<int64_t>(16),static_cast<int64_t>(16),false>(in_out_ptr0 + static_cast<int64_t>(x2 + 32L*x1 + 1024L*x0), static_cast<int64_t>(32L), tmp6, static_cast<int64_t>(16));
                                    for (long x2_inner = 0; x2_inner < static_cast<int64_t>(16); x2_inner++)
                                    {
                                        auto tmp0 =
                                        [&]
                                        {
                                            __at_align__ std::array<float, 16> tmpbuf;
                                            #pragma GCC unroll 16
                                            for (long x1_inner = 0; x1_inner < static_cast<int64_t>(16); x1_inner++)
                                            {
                                                tmpbuf[x1_inner] = in_ptr5[static_cast<int64_t>(31L + ((-1L)*x1) + ((-1L)*x1_inner) + 32L*x2 + 32L*x2_inner + 1024L*x0)];
                                            }
                                            return at::vec::Vectorized<float>::loadu(tmpbuf.data(), static_cast<int64_t>(16));
                                        }
                                        ()
                                        ;
                                        auto tmp1 = at::vec::Vectorized<float>::loadu(out_ptr0 + static_cast<int64_t>(x1 + 32L*x2 + 32L*x2_inner + 1024L*x0), static_cast<int64_t>(16));
                                        auto tmp7 = at::vec::Vectorized<float>::loadu(tmp6 + static_cast<int64_t>(16L*x2_inner), static_cast<int64_t>(16));
                                        auto tmp2 = tmp0 * tmp1;
                                        auto tmp3 = static_cast<float>(2.0);
                                        auto tmp4 = at::vec::Vectorized<float>(tmp3);
                                        auto tmp5 = tmp0 * tmp4;
                                        auto tmp8 = tmp5 * tmp7;
                                        tmp_acc0_vec = tmp_acc0_vec + tmp2;
                                        tmp_acc1_vec = tmp_acc1_vec + tmp8;
                                    }
                                }
                            }
                        }
                        if(C10_LIKELY(x1 >= static_cast<int64_t>(0) && x1 < static_cast<int64_t>(32L)))
                        {
                            tmp_acc0_vec.store(out_ptr1 + static_cast<int64_t>(x1 + 32L*x0));
                            tmp_acc1_vec.store(out_ptr2 + static_cast<int64_t>(x1 + 32L*x0));
                        }
                    }
                }
            }
        }
        {
            #pragma omp for
            for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(64L); x0+=static_cast<int64_t>(1L))
            {
                for(int64_t x1=static_cast<int64_t>(0L); x1<static_cast<int64_t>(32L); x1+=static_cast<int64_t>(16L))
                {
                    for(int64_t x2=static_cast<int64_t>(0L); x2<static_cast<int64_t>(32L); x2+=static_cast<int64_t>(16L))
                    {
                        {
                            if(C10_LIKELY(x1 >= static_cast<int64_t>(0) && x1 < static_cast<int64_t>(32L) && x2 >= static_cast<int64_t>(0) && x2 < static_cast<int64_t>(32L)))
                            {
                                for (long x1_inner = 0; x1_inner < static_cast<int64_t>(16); x1_inner++)
                                {
                                    auto tmp0 = at::vec::Vectorized<float>::loadu(out_ptr0 + static_cast<int64_t>(x2 + 32L*x1 + 32L*x1_inner + 1024L*x0), static_cast<int64_t>(16));
                                    auto tmp2 = at::vec::Vectorized<float>::loadu(out_ptr1 + static_cast<int64_t>(x2 + 32L*x0), static_cast<int64_t>(16));
                                    auto tmp3 =
                                    [&]
                                    {
                                        __at_align__ std::array<float, 16> tmpbuf;
                                        #pragma GCC unroll 16
                                        for (long x2_inner = 0; x2_inner < static_cast<int64_t>(16); x2_inner++)
                                        {
                                            tmpbuf[x2_inner] = in_ptr5[static_cast<int64_t>(31L + ((-1L)*x2) + ((-1L)*x2_inner) + 32L*x1 + 32L*x1_inner + 1024L*x0)];
                                        }
                                        return at::vec::Vectorized<float>::loadu(tmpbuf.data(), static_cast<int64_t>(16));
                                    }
                                    ()
                                    ;
                                    auto tmp6 = at::vec::Vectorized<float>::loadu(in_out_ptr0 + static_cast<int64_t>(x2 + 32L*x1 + 32L*x1_inner + 1024L*x0), static_cast<int64_t>(16));
                                    auto tmp8 = out_ptr2[static_cast<int64_t>(x1 + x1_inner + 32L*x0)];
                                    auto tmp9 =
                                    [&]
                                    {
                                        __at_align__ std::array<float, 16> tmpbuf;
                                        #pragma GCC unroll 16
                                        for (long x2_inner = 0; x2_inner < static_cast<int64_t>(16); x2_inner++)
                                        {
                                            tmpbuf[x2_inner] = in_ptr5[static_cast<int64_t>(31L + ((-1L)*x1) + ((-1L)*x1_inner) + 32L*x2 + 32L*x2_inner + 1024L*x0)];
                                        }
                                        return at::vec::Vectorized<float>::loadu(tmpbuf.data(), static_cast<int64_t>(16));
                                    }
                                    ()
                                    ;
                                    auto tmp1 = tmp0.neg();
                                    auto tmp4 = tmp3 * tmp0;
                                    auto tmp5 = fmadd(tmp1, tmp2, tmp4);
                                    auto tmp7 = tmp6.neg();
                                    auto tmp10 = static_cast<float>(2.0);
                                    auto tmp11 = at::vec::Vectorized<float>(tmp10);
                                    auto tmp12 = tmp9 * tmp11;
                                    auto tmp13 = tmp12 * tmp6;
                                    auto tmp14 = at::vec::Vectorized<float>(tmp8);
                                    auto tmp15 = fmadd(tmp7, tmp14, tmp13);
                                    auto tmp16 = tmp5 + tmp15;
                                    tmp16.store(in_out_ptr1 + static_cast<int64_t>(x2 + 32L*x1 + 32L*x1_inner + 1024L*x0));
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    inductor_cpu_integer_div_error_flag = nullptr;
    inductor_cpu_throw_if_integer_div_error(inductor_cpu_integer_div_error);
}
''')


cpp_fused__softmax_backward_data_add_flip_gelu_gelu_backward_mul_sum_transpose_view_2 = async_compile.cpp_pybinding(['float*', 'const float*', 'const float*', 'float*'], r'''
#include <torch/csrc/inductor/cpp_prefix.h>
extern "C"  void  kernel(float* in_out_ptr0,
                       const float* in_ptr0,
                       const float* in_ptr1,
                       float* out_ptr0)
{
    std::atomic<int> inductor_cpu_integer_div_error{0};
    inductor_cpu_integer_div_error_flag = &inductor_cpu_integer_div_error;
    {
        for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(32L); x0+=static_cast<int64_t>(16L))
        {
            {
                float tmp_acc0 = 0;
                at::vec::Vectorized<float> tmp_acc0_vec = at::vec::Vectorized<float>(0);
                at::vec::Vectorized<float> tmp_acc0_vec_arr[2];
                for (int i = 0; i < 2; i++)
                {
                    tmp_acc0_vec_arr[i] = at::vec::Vectorized<float>(0);
                }
                float tmp_acc0_arr[2];
                for (int i = 0; i < 2; i++)
                {
                    tmp_acc0_arr[i] = 0;
                }
                #pragma omp parallel
                {
                    int tid = omp_get_thread_num();
                    at::vec::Vectorized<float> tmp_acc0_vec_local = at::vec::Vectorized<float>(0);
                    float tmp_acc0_local = 0;
                    #pragma omp for
                    for(int64_t x1=static_cast<int64_t>(0L); x1<static_cast<int64_t>(2048L); x1+=static_cast<int64_t>(1L))
                    {
                        {
                            if(C10_LIKELY(x0 >= static_cast<int64_t>(0) && x0 < static_cast<int64_t>(32L)))
                            {
                                auto tmp0 = at::vec::Vectorized<float>::loadu(in_ptr0 + static_cast<int64_t>(x0 + 32L*x1), static_cast<int64_t>(16));
                                tmp_acc0_vec_local = tmp_acc0_vec_local + tmp0;
                            }
                        }
                    }
                    tmp_acc0_vec_arr[tid] = tmp_acc0_vec_local;
                    tmp_acc0_arr[tid] = tmp_acc0_local;
                }
                for (int tid = 0; tid < 2; tid++)
                {
                    tmp_acc0_vec = tmp_acc0_vec + tmp_acc0_vec_arr[tid];
                }
                for (int tid = 0; tid < 2; tid++)
                {
                    tmp_acc0 = tmp_acc0 + tmp_acc0_arr[tid];
                }
                if(C10_LIKELY(x0 >= static_cast<int64_t>(0) && x0 < static_cast<int64_t>(32L)))
                {
                    tmp_acc0_vec.store(out_ptr0 + static_cast<int64_t>(x0));
                }
            }
        }
    }
    #pragma omp parallel
    {
        int tid = omp_get_thread_num();
        {
            #pragma omp for
            for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(131072L); x0+=static_cast<int64_t>(16L))
            {
                {
                    if(C10_LIKELY(x0 >= static_cast<int64_t>(0) && x0 < static_cast<int64_t>(131072L)))
                    {
                        auto tmp0 = at::vec::Vectorized<float>::loadu(in_out_ptr0 + static_cast<int64_t>(x0), static_cast<int64_t>(16));
                        auto tmp1 = at::vec::Vectorized<float>::loadu(in_ptr1 + static_cast<int64_t>(x0), static_cast<int64_t>(16));
                        auto tmp2 = static_cast<float>(0.7071067811865476);
                        auto tmp3 = at::vec::Vectorized<float>(tmp2);
                        auto tmp4 = tmp1 * tmp3;
                        auto tmp5 = tmp4.erf();
                        auto tmp6 = static_cast<float>(1.0);
                        auto tmp7 = at::vec::Vectorized<float>(tmp6);
                        auto tmp8 = tmp5 + tmp7;
                        auto tmp9 = static_cast<float>(0.5);
                        auto tmp10 = at::vec::Vectorized<float>(tmp9);
                        auto tmp11 = tmp8 * tmp10;
                        auto tmp12 = tmp1 * tmp1;
                        auto tmp13 = static_cast<float>(-0.5);
                        auto tmp14 = at::vec::Vectorized<float>(tmp13);
                        auto tmp15 = tmp12 * tmp14;
                        auto tmp16 = tmp15.exp();
                        auto tmp17 = static_cast<float>(0.3989422804014327);
                        auto tmp18 = at::vec::Vectorized<float>(tmp17);
                        auto tmp19 = tmp16 * tmp18;
                        auto tmp20 = tmp1 * tmp19;
                        auto tmp21 = tmp11 + tmp20;
                        auto tmp22 = tmp0 * tmp21;
                        tmp22.store(in_out_ptr0 + static_cast<int64_t>(x0));
                    }
                }
            }
        }
    }
    inductor_cpu_integer_div_error_flag = nullptr;
    inductor_cpu_throw_if_integer_div_error(inductor_cpu_integer_div_error);
}
''')


cpp_fused_abs_add_convolution_backward_div_eq_expand_gelu_gelu_backward_mul_native_layer_norm_native_layer_norm_backward_relu_sgn_sum_threshold_backward_view_3 = async_compile.cpp_pybinding(['float*', 'float*', 'const float*', 'const float*', 'const int64_t*', 'const float*', 'const float*', 'const float*', 'const float*', 'const float*', 'const float*', 'float*', 'float*', 'float*', 'float*', 'float*'], r'''
#include <torch/csrc/inductor/cpp_prefix.h>
extern "C"  void  kernel(float* in_out_ptr0,
                       float* in_out_ptr1,
                       const float* in_ptr0,
                       const float* in_ptr1,
                       const int64_t* in_ptr2,
                       const float* in_ptr3,
                       const float* in_ptr4,
                       const float* in_ptr5,
                       const float* in_ptr6,
                       const float* in_ptr8,
                       const float* in_ptr9,
                       float* out_ptr0,
                       float* out_ptr1,
                       float* out_ptr2,
                       float* out_ptr3,
                       float* out_ptr4)
{
    std::atomic<int> inductor_cpu_integer_div_error{0};
    inductor_cpu_integer_div_error_flag = &inductor_cpu_integer_div_error;
    auto in_ptr7 = in_out_ptr1;
    {
        for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(64L); x0+=static_cast<int64_t>(16L))
        {
            {
                float tmp_acc0 = 0;
                at::vec::Vectorized<float> tmp_acc0_vec = at::vec::Vectorized<float>(0);
                at::vec::Vectorized<float> tmp_acc0_vec_arr[2];
                for (int i = 0; i < 2; i++)
                {
                    tmp_acc0_vec_arr[i] = at::vec::Vectorized<float>(0);
                }
                float tmp_acc0_arr[2];
                for (int i = 0; i < 2; i++)
                {
                    tmp_acc0_arr[i] = 0;
                }
                #pragma omp parallel
                {
                    int tid = omp_get_thread_num();
                    at::vec::Vectorized<float> tmp_acc0_vec_local = at::vec::Vectorized<float>(0);
                    float tmp_acc0_local = 0;
                    #pragma omp for
                    for(int64_t x1=static_cast<int64_t>(0L); x1<static_cast<int64_t>(2048L); x1+=static_cast<int64_t>(1L))
                    {
                        {
                            if(C10_LIKELY(x0 >= static_cast<int64_t>(0) && x0 < static_cast<int64_t>(64L)))
                            {
                                auto tmp0 = at::vec::Vectorized<float>::loadu(in_ptr0 + static_cast<int64_t>(x0 + 64L*x1), static_cast<int64_t>(16));
                                tmp_acc0_vec_local = tmp_acc0_vec_local + tmp0;
                            }
                        }
                    }
                    tmp_acc0_vec_arr[tid] = tmp_acc0_vec_local;
                    tmp_acc0_arr[tid] = tmp_acc0_local;
                }
                for (int tid = 0; tid < 2; tid++)
                {
                    tmp_acc0_vec = tmp_acc0_vec + tmp_acc0_vec_arr[tid];
                }
                for (int tid = 0; tid < 2; tid++)
                {
                    tmp_acc0 = tmp_acc0 + tmp_acc0_arr[tid];
                }
                if(C10_LIKELY(x0 >= static_cast<int64_t>(0) && x0 < static_cast<int64_t>(64L)))
                {
                    tmp_acc0_vec.store(out_ptr0 + static_cast<int64_t>(x0));
                }
            }
        }
    }
    #pragma omp parallel
    {
        int tid = omp_get_thread_num();
        {
            #pragma omp for
            for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(4L); x0+=static_cast<int64_t>(1L))
            {
                #pragma GCC ivdep
                for(int64_t x1=static_cast<int64_t>(0L); x1<static_cast<int64_t>(16L); x1+=static_cast<int64_t>(1L))
                {
                    #pragma GCC ivdep
                    for(int64_t x2=static_cast<int64_t>(0L); x2<static_cast<int64_t>(32L); x2+=static_cast<int64_t>(1L))
                    {
                        {
                            float tmp_acc0 = 0;
                            at::vec::Vectorized<float> tmp_acc0_vec = at::vec::Vectorized<float>(0);
                            for(int64_t x3=static_cast<int64_t>(0L); x3<static_cast<int64_t>(32L); x3+=static_cast<int64_t>(16L))
                            {
                                {
                                    if(C10_LIKELY(x3 >= static_cast<int64_t>(0) && x3 < static_cast<int64_t>(32L)))
                                    {
                                        auto tmp0 = at::vec::Vectorized<float>::loadu(in_ptr1 + static_cast<int64_t>(x3 + 32L*x2 + 1024L*x0), static_cast<int64_t>(16));
                                        auto tmp1 = at::vec::VectorizedN<int64_t,2>::loadu(in_ptr2 + static_cast<int64_t>(x3 + 32L*x2 + 1024L*x0), static_cast<int64_t>(16));
                                        auto tmp4 = at::vec::Vectorized<float>::loadu(in_ptr3 + static_cast<int64_t>(x3 + 32L*x2 + 1024L*x0), static_cast<int64_t>(16));
                                        auto tmp5 = at::vec::Vectorized<float>::loadu(in_out_ptr0 + static_cast<int64_t>(x3 + 32L*x2 + 1024L*x1 + 16384L*x0), static_cast<int64_t>(16));
                                        auto tmp12 = at::vec::Vectorized<float>::loadu(in_ptr4 + static_cast<int64_t>(x3 + 32L*x1), static_cast<int64_t>(16));
                                        auto tmp17 = at::vec::Vectorized<float>::loadu(in_ptr5 + static_cast<int64_t>(x3 + 32L*x2 + 1024L*x1 + 16384L*x0), static_cast<int64_t>(16));
                                        auto tmp19 = at::vec::Vectorized<float>::loadu(in_ptr6 + static_cast<int64_t>(x3), static_cast<int64_t>(16));
                                        auto tmp21 =
                                        [&]
                                        {
                                            __at_align__ std::array<float, 16> tmpbuf;
                                            #pragma GCC unroll 16
                                            for (long x3_inner = 0; x3_inner < static_cast<int64_t>(16); x3_inner++)
                                            {
                                                tmpbuf[x3_inner] = in_ptr7[static_cast<int64_t>(x1 + 16L*x3 + 16L*x3_inner + 512L*x2 + 16384L*x0)];
                                            }
                                            return at::vec::Vectorized<float>::loadu(tmpbuf.data(), static_cast<int64_t>(16));
                                        }
                                        ()
                                        ;
                                        auto tmp23 = in_ptr8[static_cast<int64_t>(x2 + 32L*x1 + 512L*x0)];
                                        auto tmp26 = in_ptr9[static_cast<int64_t>(x2 + 32L*x1 + 512L*x0)];
                                        auto tmp2 = at::vec::convert<float,1,int64_t,2>(tmp1);
                                        auto tmp3 = tmp0 / tmp2;
                                        auto tmp6 = tmp5.abs();
                                        auto tmp7 = at::vec::VecMask<float,1>(tmp4 == tmp6);
                                        auto tmp8 = tmp7.to<float,1>();
                                        auto tmp9 = tmp3 * tmp8;
                                        auto tmp10 =
                                        [&]()
                                        {
                                            auto left = decltype(tmp5)::blendv(decltype(tmp5)(0), decltype(tmp5)(1), decltype(tmp5)(0) < tmp5);
                                            auto right = decltype(tmp5)::blendv(decltype(tmp5)(0), decltype(tmp5)(1), tmp5 < decltype(tmp5)(0));
                                            return left - right;
                                        }
                                        ()
                                        ;
                                        auto tmp11 = tmp9 * tmp10;
                                        auto tmp13 = static_cast<float>(128.0);
                                        auto tmp14 = at::vec::Vectorized<float>(tmp13);
                                        auto tmp15 = tmp12 / tmp14;
                                        auto tmp16 = tmp11 + tmp15;
                                        auto tmp18 = tmp16 + tmp17;
                                        auto tmp20 = tmp18 * tmp19;
                                        auto tmp22 = at::vec::clamp_min(tmp21, decltype(tmp21)(0));
                                        auto tmp24 = at::vec::Vectorized<float>(tmp23);
                                        auto tmp25 = tmp22 - tmp24;
                                        auto tmp27 = at::vec::Vectorized<float>(tmp26);
                                        auto tmp28 = tmp25 * tmp27;
                                        auto tmp29 = tmp20 * tmp28;
                                        tmp18.store(in_out_ptr0 + static_cast<int64_t>(x3 + 32L*x2 + 1024L*x1 + 16384L*x0));
                                        tmp_acc0_vec = tmp_acc0_vec + tmp29;
                                    }
                                }
                            }
                            tmp_acc0 = tmp_acc0 + at::vec::vec_reduce_all<float, 1>([](at::vec::Vectorized<float>& x, at::vec::Vectorized<float>& y) { return x + y; }, tmp_acc0_vec);
                            out_ptr1[static_cast<int64_t>(x2 + 32L*x1 + 512L*x0)] = static_cast<float>(tmp_acc0);
                        }
                    }
                }
            }
        }
        {
            #pragma omp for
            for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(2048L); x0+=static_cast<int64_t>(1L))
            {
                {
                    float tmp_acc0 = 0;
                    at::vec::Vectorized<float> tmp_acc0_vec = at::vec::Vectorized<float>(0);
                    for(int64_t x1=static_cast<int64_t>(0L); x1<static_cast<int64_t>(32L); x1+=static_cast<int64_t>(16L))
                    {
                        {
                            if(C10_LIKELY(x1 >= static_cast<int64_t>(0) && x1 < static_cast<int64_t>(32L)))
                            {
                                auto tmp0 = at::vec::Vectorized<float>::loadu(in_out_ptr0 + static_cast<int64_t>(x1 + 32L*x0), static_cast<int64_t>(16));
                                auto tmp1 = at::vec::Vectorized<float>::loadu(in_ptr6 + static_cast<int64_t>(x1), static_cast<int64_t>(16));
                                auto tmp2 = tmp0 * tmp1;
                                tmp_acc0_vec = tmp_acc0_vec + tmp2;
                            }
                        }
                    }
                    tmp_acc0 = tmp_acc0 + at::vec::vec_reduce_all<float, 1>([](at::vec::Vectorized<float>& x, at::vec::Vectorized<float>& y) { return x + y; }, tmp_acc0_vec);
                    out_ptr2[static_cast<int64_t>(x0)] = static_cast<float>(tmp_acc0);
                }
            }
        }
        {
            #pragma omp for
            for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(32L); x0+=static_cast<int64_t>(1L))
            {
                {
                    float tmp_acc0 = 0;
                    for(int64_t x1=static_cast<int64_t>(0L); x1<static_cast<int64_t>(4L); x1+=static_cast<int64_t>(1L))
                    {
                        for(int64_t x2=static_cast<int64_t>(0L); x2<static_cast<int64_t>(16L); x2+=static_cast<int64_t>(1L))
                        {
                            for(int64_t x3=static_cast<int64_t>(0L); x3<static_cast<int64_t>(32L); x3+=static_cast<int64_t>(1L))
                            {
                                {
                                    {
                                        auto tmp0 = in_out_ptr0[static_cast<int64_t>(x0 + 32L*x3 + 1024L*x2 + 16384L*x1)];
                                        auto tmp1 = in_ptr7[static_cast<int64_t>(x2 + 16L*x0 + 512L*x3 + 16384L*x1)];
                                        auto tmp3 = in_ptr8[static_cast<int64_t>(x3 + 32L*x2 + 512L*x1)];
                                        auto tmp5 = in_ptr9[static_cast<int64_t>(x3 + 32L*x2 + 512L*x1)];
                                        auto tmp2 = std::max(tmp1, decltype(tmp1)(0));
                                        auto tmp4 = float(tmp2 - tmp3);
                                        auto tmp6 = float(tmp4 * tmp5);
                                        auto tmp7 = float(tmp0 * tmp6);
                                        tmp_acc0 = tmp_acc0 + tmp7;
                                    }
                                }
                            }
                        }
                    }
                    out_ptr3[static_cast<int64_t>(x0)] = tmp_acc0;
                }
            }
        }
    }
    {
        for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(32L); x0+=static_cast<int64_t>(16L))
        {
            {
                float tmp_acc0 = 0;
                at::vec::Vectorized<float> tmp_acc0_vec = at::vec::Vectorized<float>(0);
                at::vec::Vectorized<float> tmp_acc0_vec_arr[2];
                for (int i = 0; i < 2; i++)
                {
                    tmp_acc0_vec_arr[i] = at::vec::Vectorized<float>(0);
                }
                float tmp_acc0_arr[2];
                for (int i = 0; i < 2; i++)
                {
                    tmp_acc0_arr[i] = 0;
                }
                #pragma omp parallel
                {
                    int tid = omp_get_thread_num();
                    at::vec::Vectorized<float> tmp_acc0_vec_local = at::vec::Vectorized<float>(0);
                    float tmp_acc0_local = 0;
                    #pragma omp for
                    for(int64_t x1=static_cast<int64_t>(0L); x1<static_cast<int64_t>(2048L); x1+=static_cast<int64_t>(1L))
                    {
                        {
                            if(C10_LIKELY(x0 >= static_cast<int64_t>(0) && x0 < static_cast<int64_t>(32L)))
                            {
                                auto tmp0 = at::vec::Vectorized<float>::loadu(in_out_ptr0 + static_cast<int64_t>(x0 + 32L*x1), static_cast<int64_t>(16));
                                tmp_acc0_vec_local = tmp_acc0_vec_local + tmp0;
                            }
                        }
                    }
                    tmp_acc0_vec_arr[tid] = tmp_acc0_vec_local;
                    tmp_acc0_arr[tid] = tmp_acc0_local;
                }
                for (int tid = 0; tid < 2; tid++)
                {
                    tmp_acc0_vec = tmp_acc0_vec + tmp_acc0_vec_arr[tid];
                }
                for (int tid = 0; tid < 2; tid++)
                {
                    tmp_acc0 = tmp_acc0 + tmp_acc0_arr[tid];
                }
                if(C10_LIKELY(x0 >= static_cast<int64_t>(0) && x0 < static_cast<int64_t>(32L)))
                {
                    tmp_acc0_vec.store(out_ptr4 + static_cast<int64_t>(x0));
                }
            }
        }
    }
    #pragma omp parallel
    {
        int tid = omp_get_thread_num();
        {
            #pragma omp for
            for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(4L); x0+=static_cast<int64_t>(1L))
            {
                #pragma GCC ivdep
                for(int64_t x1=static_cast<int64_t>(0L); x1<static_cast<int64_t>(16L); x1+=static_cast<int64_t>(1L))
                {
                    #pragma GCC ivdep
                    for(int64_t x2=static_cast<int64_t>(0L); x2<static_cast<int64_t>(32L); x2+=static_cast<int64_t>(1L))
                    {
                        #pragma GCC ivdep
                        for(int64_t x3=static_cast<int64_t>(0L); x3<static_cast<int64_t>(32L); x3+=static_cast<int64_t>(1L))
                        {
                            {
                                {
                                    auto tmp0 = in_out_ptr1[static_cast<int64_t>(x1 + 16L*x3 + 512L*x2 + 16384L*x0)];
                                    auto tmp4 = in_ptr9[static_cast<int64_t>(x2 + 32L*x1 + 512L*x0)];
                                    auto tmp7 = in_out_ptr0[static_cast<int64_t>(x3 + 32L*x2 + 1024L*x1 + 16384L*x0)];
                                    auto tmp8 = in_ptr6[static_cast<int64_t>(x3)];
                                    auto tmp11 = out_ptr2[static_cast<int64_t>(x2 + 32L*x1 + 512L*x0)];
                                    auto tmp13 = in_ptr8[static_cast<int64_t>(x2 + 32L*x1 + 512L*x0)];
                                    auto tmp16 = out_ptr1[static_cast<int64_t>(x2 + 32L*x1 + 512L*x0)];
                                    auto tmp1 = std::max(tmp0, decltype(tmp0)(0));
                                    auto tmp2 = static_cast<float>(0.0);
                                    auto tmp3 = tmp1 <= tmp2;
                                    auto tmp5 = static_cast<float>(32.0);
                                    auto tmp6 = tmp4 / tmp5;
                                    auto tmp9 = float(tmp7 * tmp8);
                                    auto tmp10 = float(tmp9 * tmp5);
                                    auto tmp12 = float(tmp10 - tmp11);
                                    auto tmp14 = float(tmp1 - tmp13);
                                    auto tmp15 = float(tmp14 * tmp4);
                                    auto tmp17 = float(tmp15 * tmp16);
                                    auto tmp18 = float(tmp12 - tmp17);
                                    auto tmp19 = float(tmp6 * tmp18);
                                    auto tmp20 = tmp3 ? tmp2 : tmp19;
                                    in_out_ptr1[static_cast<int64_t>(x1 + 16L*x3 + 512L*x2 + 16384L*x0)] = tmp20;
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    inductor_cpu_integer_div_error_flag = nullptr;
    inductor_cpu_throw_if_integer_div_error(inductor_cpu_integer_div_error);
}
''')


async_compile.wait(globals())
del async_compile

class Runner:
    def __init__(self, partitions):
        self.partitions = partitions

    def recursively_apply_fns(self, fns):
        new_callables = []
        for fn, c in zip(fns, self.partitions):
            new_callables.append(fn(c))
        self.partitions = new_callables

    def call(self, args):
        primals_1, primals_3, primals_4, primals_6, primals_8, convolution, getitem_1, rsqrt, view, addmm, view_2, addmm_1, amax, sum_1, amax_1, sum_2, sub_3, amax_2, tangents_1, tangents_2 = args
        args.clear()
        assert_size_stride(amax_2, (4, 32, 32), (1024, 32, 1), 'input')
        assert_size_stride(sub_3, (4, 16, 32, 32), (16384, 1024, 32, 1), 'input')
        buf0 = empty_strided_cpu((4, 1, 32, 32), (1024, 4096, 32, 1), torch.int64)
        assert_size_stride(tangents_2, (4, 32, 32), (1024, 32, 1), 'input')
        buf1 = empty_strided_cpu((1, 16, 1, 32), (512, 32, 512, 1), torch.float32)
        assert_size_stride(tangents_1, (16, 32, 32), (1024, 32, 1), 'input')
        buf2 = empty_strided_cpu((4, 16, 32, 32), (16384, 1024, 32, 1), torch.float32)
        cpp_fused_abs_div_eq_expand_flip_mul_neg_sgn_sum_unsqueeze_view_0(amax_2, sub_3, tangents_2, tangents_1, buf0, buf1, buf2)
        del tangents_1
        # Topologically Sorted Source Nodes: [unsqueeze, expand, rev, cumsum_1], Original ATen: [aten.unsqueeze, aten.expand, aten.flip, aten.cumsum]
        buf3 = torch.ops.aten.cumsum.default(buf2, dim=-1, dtype=None)
        buf4 = buf3
        assert_size_stride(buf4, (4, 16, 32, 32), (16384, 1024, 32, 1), 'torch.ops.aten.cumsum.default')
        assert_alignment(buf4, 16, 'torch.ops.aten.cumsum.default')
        del buf3
        assert_size_stride(addmm_1, (2048, 32), (32, 1), 'input')
        assert_size_stride(amax_1, (4, 16, 1, 32), (512, 32, 32, 1), 'input')
        assert_size_stride(sum_2, (4, 16, 1, 32), (512, 32, 32, 1), 'input')
        buf5 = buf2; del buf2  # reuse
        assert_size_stride(amax, (4, 16, 32, 1), (512, 32, 1, 1), 'input')
        assert_size_stride(sum_1, (4, 16, 32, 1), (512, 32, 1, 1), 'input')
        buf7 = reinterpret_tensor(addmm_1, (4, 16, 32, 32), (16384, 1024, 32, 1), 0); del addmm_1  # reuse
        buf6 = empty_strided_cpu((4, 16, 1, 32), (512, 32, 2048, 1), torch.float32)
        buf8 = empty_strided_cpu((4, 16, 32, 1), (512, 32, 1, 2048), torch.float32)
        buf9 = buf5; del buf5  # reuse
        assert_size_stride(primals_8, (32, 64), (64, 1), 'input')
        cpp_fused__softmax__softmax_backward_data_add_flip_mul_transpose_view_1(buf7, buf9, amax_1, sum_2, amax, sum_1, buf4, buf6, buf8)
        del amax
        del amax_1
        del buf4
        del buf7
        del sum_1
        del sum_2
        buf10 = empty_strided_cpu((2048, 64), (64, 1), torch.float32)
        # Topologically Sorted Source Nodes: [rev_1, mul_8, permute_3, mul_9, neg_1, fma, mul_10, neg_2, fma_1, add_5, view_6, z, permute_4, mm], Original ATen: [aten.flip, aten.mul, aten.transpose, aten._softmax_backward_data, aten.add, aten.view, aten.t, aten.mm]
        extern_kernels.mm(reinterpret_tensor(buf9, (2048, 32), (32, 1), 0), primals_8, out=buf10)
        del primals_8
        assert_size_stride(view_2, (2048, 64), (64, 1), 'input')
        buf11 = reinterpret_tensor(buf8, (32, 64), (64, 1), 0); del buf8  # reuse
        # Topologically Sorted Source Nodes: [rev_1, mul_8, permute_3, mul_9, neg_1, fma, mul_10, neg_2, fma_1, add_5, view_6, permute_5, mm_1], Original ATen: [aten.flip, aten.mul, aten.transpose, aten._softmax_backward_data, aten.add, aten.view, aten.t, aten.mm]
        extern_kernels.mm(reinterpret_tensor(buf9, (32, 2048), (1, 32), 0), view_2, out=buf11)
        del view_2
        buf12 = empty_strided_cpu((1, 32), (32, 1), torch.float32)
        assert_size_stride(addmm, (2048, 64), (64, 1), 'input')
        buf13 = reinterpret_tensor(buf10, (4, 16, 32, 64), (32768, 2048, 64, 1), 0); del buf10  # reuse
        assert_size_stride(primals_6, (64, 32), (32, 1), 'input')
        cpp_fused__softmax_backward_data_add_flip_gelu_gelu_backward_mul_sum_transpose_view_2(buf13, buf9, addmm, buf12)
        del addmm
        buf14 = reinterpret_tensor(buf9, (2048, 32), (32, 1), 0); del buf9  # reuse
        # Topologically Sorted Source Nodes: [view_8, linear, gelu, mul_12, mul_13, mul_14, exp_2, mul_15, mul_16, add_7, mul_17, view_9, permute_8, mm_2], Original ATen: [aten.view, aten.gelu, aten.gelu_backward, aten.t, aten.mm]
        extern_kernels.mm(reinterpret_tensor(buf13, (2048, 64), (64, 1), 0), primals_6, out=buf14)
        del primals_6
        assert_size_stride(view, (2048, 32), (32, 1), 'input')
        buf15 = reinterpret_tensor(buf6, (64, 32), (32, 1), 0); del buf6  # reuse
        # Topologically Sorted Source Nodes: [view_8, linear, gelu, mul_12, mul_13, mul_14, exp_2, mul_15, mul_16, add_7, mul_17, view_9, permute_9, mm_3], Original ATen: [aten.view, aten.gelu, aten.gelu_backward, aten.t, aten.mm]
        extern_kernels.mm(reinterpret_tensor(buf13, (64, 2048), (1, 64), 0), view, out=buf15)
        del view
        buf16 = empty_strided_cpu((1, 64), (64, 1), torch.float32)
        assert_size_stride(primals_4, (32, ), (1, ), 'input')
        assert_size_stride(convolution, (4, 16, 32, 32), (16384, 1, 512, 16), 'input')
        assert_size_stride(getitem_1, (4, 16, 32, 1), (512, 32, 1, 1), 'input')
        assert_size_stride(rsqrt, (4, 16, 32, 1), (512, 32, 1, 1), 'input')
        buf17 = sub_3; del sub_3  # reuse
        buf19 = empty_strided_cpu((4, 16, 32, 1), (512, 32, 1, 2048), torch.float32)
        buf18 = empty_strided_cpu((4, 16, 32, 1), (512, 32, 1, 2048), torch.float32)
        buf20 = empty_strided_cpu((32, ), (1, ), torch.float32)
        buf21 = empty_strided_cpu((32, ), (1, ), torch.float32)
        buf22 = convolution; del convolution  # reuse
        assert_size_stride(primals_3, (4, 3, 32, 32), (3072, 1, 96, 3), 'input')
        assert_size_stride(primals_1, (16, 3, 3, 3), (27, 1, 9, 3), 'input')
        cpp_fused_abs_add_convolution_backward_div_eq_expand_gelu_gelu_backward_mul_native_layer_norm_native_layer_norm_backward_relu_sgn_sum_threshold_backward_view_3(buf17, buf22, buf13, tangents_2, buf0, amax_2, buf1, buf14, primals_4, getitem_1, rsqrt, buf16, buf19, buf18, buf20, buf21)
        del amax_2
        del buf0
        del buf1
        del buf13
        del buf14
        del buf17
        del buf18
        del buf19
        del getitem_1
        del primals_4
        del rsqrt
        del tangents_2
        # Topologically Sorted Source Nodes: [mul_19, mul_20, y, y_1, mul_22, sub_5, sub_6, div_4, mul_23, le, full_default, where, convolution_backward], Original ATen: [aten.native_layer_norm_backward, aten.relu, aten.native_layer_norm, aten.threshold_backward, aten.convolution_backward]
        buf23 = torch.ops.aten.convolution_backward.default(buf22, primals_3, primals_1, [16], (1, 1), (1, 1), (1, 1), False, (0, 0), 1, [False, True, True])
        del buf22
        del primals_1
        del primals_3
        buf24 = buf23[1]
        assert_size_stride(buf24, (16, 3, 3, 3), (27, 1, 9, 3), 'torch.ops.aten.convolution_backward.default')
        # buffer buf24 (op: torch.ops.aten.convolution_backward.default) is assumed to be not aligned
        buf25 = buf23[2]
        assert_size_stride(buf25, (16, ), (1, ), 'torch.ops.aten.convolution_backward.default')
        # buffer buf25 (op: torch.ops.aten.convolution_backward.default) is assumed to be not aligned
        return (buf24, buf25, None, buf20, buf21, buf15, reinterpret_tensor(buf16, (64, ), (1, ), 0), buf11, reinterpret_tensor(buf12, (32, ), (1, ), 0), )

runner = Runner(partitions=[])
call = runner.call
recursively_apply_fns = runner.recursively_apply_fns


def get_args():
    from torch._dynamo.testing import rand_strided
    primals_1 = rand_strided((16, 3, 3, 3), (27, 1, 9, 3), device='cpu', dtype=torch.float32)
    primals_3 = rand_strided((4, 3, 32, 32), (3072, 1, 96, 3), device='cpu', dtype=torch.float32)
    primals_4 = rand_strided((32, ), (1, ), device='cpu', dtype=torch.float32)
    primals_6 = rand_strided((64, 32), (32, 1), device='cpu', dtype=torch.float32)
    primals_8 = rand_strided((32, 64), (64, 1), device='cpu', dtype=torch.float32)
    convolution = rand_strided((4, 16, 32, 32), (16384, 1, 512, 16), device='cpu', dtype=torch.float32)
    getitem_1 = rand_strided((4, 16, 32, 1), (512, 32, 1, 1), device='cpu', dtype=torch.float32)
    rsqrt = rand_strided((4, 16, 32, 1), (512, 32, 1, 1), device='cpu', dtype=torch.float32)
    view = rand_strided((2048, 32), (32, 1), device='cpu', dtype=torch.float32)
    addmm = rand_strided((2048, 64), (64, 1), device='cpu', dtype=torch.float32)
    view_2 = rand_strided((2048, 64), (64, 1), device='cpu', dtype=torch.float32)
    addmm_1 = rand_strided((2048, 32), (32, 1), device='cpu', dtype=torch.float32)
    amax = rand_strided((4, 16, 32, 1), (512, 32, 1, 1), device='cpu', dtype=torch.float32)
    sum_1 = rand_strided((4, 16, 32, 1), (512, 32, 1, 1), device='cpu', dtype=torch.float32)
    amax_1 = rand_strided((4, 16, 1, 32), (512, 32, 32, 1), device='cpu', dtype=torch.float32)
    sum_2 = rand_strided((4, 16, 1, 32), (512, 32, 32, 1), device='cpu', dtype=torch.float32)
    sub_3 = rand_strided((4, 16, 32, 32), (16384, 1024, 32, 1), device='cpu', dtype=torch.float32)
    amax_2 = rand_strided((4, 32, 32), (1024, 32, 1), device='cpu', dtype=torch.float32)
    tangents_1 = rand_strided((16, 32, 32), (1024, 32, 1), device='cpu', dtype=torch.float32)
    tangents_2 = rand_strided((4, 32, 32), (1024, 32, 1), device='cpu', dtype=torch.float32)
    return [primals_1, primals_3, primals_4, primals_6, primals_8, convolution, getitem_1, rsqrt, view, addmm, view_2, addmm_1, amax, sum_1, amax_1, sum_2, sub_3, amax_2, tangents_1, tangents_2]


def benchmark_compiled_module(args, times=10, repeat=10):
    from torch._inductor.utils import print_performance
    fn = lambda: call(list(args))
    return print_performance(fn, times=times, repeat=repeat, device='cpu')


if __name__ == "__main__":
    from torch._inductor.wrapper_benchmark import compiled_module_main
    args = get_args()
    compiled_module_main('None', lambda times, repeat: benchmark_compiled_module(args, times=times, repeat=repeat))
