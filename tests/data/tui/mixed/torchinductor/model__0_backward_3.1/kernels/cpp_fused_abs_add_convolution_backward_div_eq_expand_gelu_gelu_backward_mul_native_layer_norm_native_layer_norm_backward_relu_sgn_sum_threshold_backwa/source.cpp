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
